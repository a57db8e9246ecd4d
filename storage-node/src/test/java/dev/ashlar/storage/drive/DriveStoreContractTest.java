package dev.ashlar.storage.drive;

import dev.ashlar.protocol.client.AbstractShardStoreContract;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.storage.io.IoMode;
import java.nio.file.Path;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.io.TempDir;

/** A drive store does what every shard store does, whichever way it does its I/O. */
class DriveStoreContractTest {
  @Nested
  class PastThePageCache extends OnFolder {
    PastThePageCache() {
      super(IoMode.AUTO);
    }
  }

  @Nested
  class ThroughThePageCache extends OnFolder {
    ThroughThePageCache() {
      super(IoMode.BUFFERED);
    }
  }

  abstract static class OnFolder extends AbstractShardStoreContract {
    private final IoMode mode;
    private final DriveResources resources = TestDrives.resources(slabs);
    @TempDir Path folder = Path.of("set by JUnit");

    OnFolder(IoMode mode) {
      this.mode = mode;
    }

    @Override
    protected ShardStore newStore() throws Exception {
      return DriveStore.open(TestDrives.config(folder, mode), resources);
    }

    @Override
    protected void close(ShardStore closing) throws Exception {
      ((DriveStore) closing).close();
      resources.close();
    }
  }
}
