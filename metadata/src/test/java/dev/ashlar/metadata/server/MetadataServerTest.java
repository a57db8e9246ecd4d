package dev.ashlar.metadata.server;

import static java.util.Objects.requireNonNull;

import dev.ashlar.metadata.consensus.MetadataConfig;
import dev.ashlar.metadata.memory.MemoryMetadata;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataClientContract;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.model.Profile;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

@Execution(ExecutionMode.CONCURRENT)
class MetadataServerTest extends MetadataClientContract {
  @TempDir(cleanup = CleanupMode.NEVER) // closes in the background
  Path folder = Path.of("");

  private final TestResources resources = new TestResources();
  private @Nullable MetadataServer server;

  @Override
  protected MetadataClient newClient() throws Exception {
    server =
        MetadataServer.open(
            new MetadataConfig(
                List.of(folder.resolve("m1")),
                UUID.randomUUID(),
                resources.get(),
                new SimpleMeterRegistry()));
    server
        .client()
        .submit(
            Command.newBuilder()
                .setPutDrives(
                    MemoryMetadata.drives(
                        new Profile(4, 2, 16384), MemoryMetadata.sequentialIds(8), 16)));
    return server.client();
  }

  @Override
  protected void closeClient() {
    // Ratis takes a second to close: let the next test begin.
    Thread.ofPlatform()
        .start(
            () -> {
              requireNonNull(server).close();
              resources.close();
            });
  }
}
