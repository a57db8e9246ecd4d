package dev.ashlar.metadata.server;

import static java.util.Objects.requireNonNull;

import dev.ashlar.metadata.consensus.MetadataConfig;
import dev.ashlar.metadata.state.apply.MetadataVersion;
import dev.ashlar.protocol.client.IdentityContract;
import dev.ashlar.protocol.client.MetadataClient;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

@Execution(ExecutionMode.CONCURRENT)
class MetadataServerIdentityTest extends IdentityContract {
  @TempDir Path folder = Path.of("");

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
                new SimpleMeterRegistry()),
            MetadataVersion.IDENTITIES);
    return server.client();
  }

  @Override
  protected void closeClient() {
    requireNonNull(server).close();
    resources.close();
  }
}
