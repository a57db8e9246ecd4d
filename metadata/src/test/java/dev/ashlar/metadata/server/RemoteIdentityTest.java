package dev.ashlar.metadata.server;

import static java.util.Objects.requireNonNull;

import dev.ashlar.metadata.state.apply.MetadataVersion;
import dev.ashlar.protocol.client.IdentityContract;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.transport.metadata.RemoteMetadata;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

@Tag("slow")
@Execution(ExecutionMode.CONCURRENT)
@Timeout(120)
class RemoteIdentityTest extends IdentityContract {
  @TempDir Path folder = Path.of("");

  private @Nullable LoopbackGroup group;
  private @Nullable RemoteMetadata client;

  @Override
  protected MetadataClient newClient() throws Exception {
    group = new LoopbackGroup(folder, 3);
    for (int place = 0; place < 3; place++) {
      group.setBuild(place, MetadataVersion.IDENTITIES);
    }
    client = group.startAll().client();
    while (client.peers().getVersion() < MetadataVersion.IDENTITIES) {
      Thread.sleep(20);
    }
    return client;
  }

  @Override
  protected void closeClient() throws IOException {
    requireNonNull(client).close();
    requireNonNull(group).close();
  }
}
