package dev.ashlar.metadata.memory;

import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataClientContract;
import dev.ashlar.protocol.model.Profile;

class MemoryMetadataTest extends MetadataClientContract {
  @Override
  protected MetadataClient newClient() {
    return MemoryMetadata.withDrives(new Profile(4, 2, 16384), 8, 16);
  }

  @Override
  protected void closeClient() {}
}
