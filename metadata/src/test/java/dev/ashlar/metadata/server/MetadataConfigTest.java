package dev.ashlar.metadata.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.ashlar.metadata.consensus.MetadataConfig;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class MetadataConfigTest {
  /** It was found missing later, "LEFT OUT", because Ratis had made two folders of it. */
  @Test
  void aFolderWithACommaIsRefusedBeforeAnythingIsMade() {
    TestResources resources = new TestResources();
    try {
      IllegalArgumentException refusal =
          assertThrows(
              IllegalArgumentException.class,
              () ->
                  new MetadataConfig(
                      List.of(Path.of("/data/a,b/metadata")),
                      UUID.randomUUID(),
                      resources.get(),
                      new SimpleMeterRegistry()));
      assertEquals(
          "metadata folder /data/a,b/metadata: its path must not contain a comma",
          refusal.getMessage());
    } finally {
      resources.close();
    }
  }
}
