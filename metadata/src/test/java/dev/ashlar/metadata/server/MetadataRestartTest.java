package dev.ashlar.metadata.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CreateBucket;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MetadataRestartTest {
  @TempDir Path folder = Path.of("");
  private final TestResources resources = new TestResources();
  private final UUID clusterId = UUID.randomUUID();

  @AfterEach
  void closeResources() {
    resources.close();
  }

  private MetadataServer open() throws Exception {
    return MetadataServer.open(
        new MetadataConfig(
            List.of(folder.resolve("m1")), clusterId, resources.get(), new SimpleMeterRegistry()));
  }

  @Test
  void whatWasAnsweredIsThereAfterARestart() throws Exception {
    long session;
    try (MetadataServer server = open()) {
      session = server.client().session();
      create(server, "a");
    }
    try (MetadataServer server = open()) {
      assertTrue(server.client().session() > session);
      assertTrue(server.client().bucket("a").isPresent());
      create(server, "b");
      server.checkpoint();
      create(server, "c");
    }
    try (MetadataServer server = open()) {
      assertEquals(3, server.client().buckets().size());
    }
  }

  private static void create(MetadataServer server, String name) throws Exception {
    server
        .client()
        .submit(
            Command.newBuilder()
                .setCreateBucket(CreateBucket.newBuilder().setName(name).setOwner("me")));
  }
}
