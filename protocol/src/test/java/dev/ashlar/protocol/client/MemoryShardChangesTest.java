package dev.ashlar.protocol.client;

import dev.ashlar.protocol.model.DriveId;
import java.util.UUID;

class MemoryShardChangesTest extends AbstractShardChangesContract {
  @Override
  protected ShardStore newStore() {
    return new MemoryShardStore(new DriveId(new UUID(1, 2), 1), slabs);
  }

  @Override
  protected void close(ShardStore closing) {}
}
