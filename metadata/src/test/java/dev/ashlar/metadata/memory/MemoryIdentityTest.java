package dev.ashlar.metadata.memory;

import dev.ashlar.metadata.state.apply.MetadataVersion;
import dev.ashlar.protocol.client.IdentityContract;
import dev.ashlar.protocol.client.MetadataClient;
import java.time.Clock;

class MemoryIdentityTest extends IdentityContract {
  @Override
  protected MetadataClient newClient() {
    return MemoryMetadata.ofVersion(MetadataVersion.IDENTITIES, Clock.systemUTC());
  }

  @Override
  protected void closeClient() {}
}
