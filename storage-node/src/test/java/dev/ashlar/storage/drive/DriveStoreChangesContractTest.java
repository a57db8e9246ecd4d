package dev.ashlar.storage.drive;

import dev.ashlar.protocol.client.AbstractShardChangesContract;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.storage.io.IoMode;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

/** A drive store changes shards as every shard store does. */
class DriveStoreChangesContractTest extends AbstractShardChangesContract {
  private final DriveResources resources = TestDrives.resources(slabs);
  @TempDir Path folder = Path.of("set by JUnit");

  @Override
  protected ShardStore newStore() throws Exception {
    return DriveStore.open(TestDrives.config(folder, IoMode.AUTO), resources);
  }

  @Override
  protected void close(ShardStore closing) throws Exception {
    ((DriveStore) closing).close();
    resources.close();
  }
}
