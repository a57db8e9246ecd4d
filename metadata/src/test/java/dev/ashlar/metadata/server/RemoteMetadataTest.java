package dev.ashlar.metadata.server;

import static java.util.Objects.requireNonNull;

import dev.ashlar.metadata.state.apply.MetadataVersion;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataClientContract;
import dev.ashlar.transport.metadata.RemoteMetadata;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

@Tag("slow")
@Execution(ExecutionMode.CONCURRENT)
class RemoteMetadataTest extends MetadataClientContract {
  @TempDir(cleanup = CleanupMode.NEVER) // closes in the background
  Path folder = Path.of("");

  private @Nullable LoopbackGroup group;
  private @Nullable RemoteMetadata client;

  @Override
  protected MetadataClient newClient() throws Exception {
    group = new LoopbackGroup(folder, 3).startAll();
    client = group.client();
    while (client.peers().getVersion() < MetadataVersion.KNOWN) { // its commands are refused before
      Thread.sleep(20);
    }
    LoopbackGroup.installDrives(client);
    return client;
  }

  @Override
  protected void closeClient() {
    RemoteMetadata closedClient = requireNonNull(client);
    LoopbackGroup closedGroup = requireNonNull(group);
    // Ratis takes a second to close: let the next test begin.
    Thread.ofPlatform()
        .start(
            () -> {
              closedClient.close();
              try {
                closedGroup.close();
              } catch (IOException e) {
                throw new UncheckedIOException(e);
              }
            });
  }
}
