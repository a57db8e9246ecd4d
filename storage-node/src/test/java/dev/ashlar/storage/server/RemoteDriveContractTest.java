package dev.ashlar.storage.server;

import dev.ashlar.protocol.client.AbstractShardChangesContract;
import dev.ashlar.protocol.client.AbstractShardStoreContract;
import dev.ashlar.protocol.client.MemoryShardStore;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.storage.drive.TestDrives;
import dev.ashlar.storage.io.IoMode;
import dev.ashlar.transport.Transport;
import java.nio.file.Path;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.io.TempDir;

/** A drive behind a connection does what every shard store does. */
class RemoteDriveContractTest {
  @Nested
  class Data extends AbstractShardStoreContract {
    private final OnDisk remote = new OnDisk();
    @TempDir Path folder = Path.of("set by JUnit");

    @Override
    protected ShardStore newStore() throws Exception {
      return remote.open(folder, slabs);
    }

    @Override
    protected void close(ShardStore closing) throws Exception {
      remote.close();
    }
  }

  @Nested
  class Changes extends AbstractShardChangesContract {
    private final OnDisk remote = new OnDisk();
    @TempDir Path folder = Path.of("set by JUnit");

    @Override
    protected ShardStore newStore() throws Exception {
      return remote.open(folder, slabs);
    }

    @Override
    protected void close(ShardStore closing) throws Exception {
      remote.close();
    }
  }

  @Nested
  class OverEpoll extends InMemory {
    OverEpoll() {
      super(Transport.EPOLL);
    }
  }

  @Nested
  class OverIoUring extends InMemory {
    OverIoUring() {
      super(Transport.IO_URING);
    }
  }

  @Nested
  class OverNio extends InMemory {
    OverNio() {
      super(Transport.NIO);
    }
  }

  abstract static class InMemory extends AbstractShardStoreContract {
    private final Transport transport;
    private @Nullable Loopback loopback;

    InMemory(Transport transport) {
      this.transport = transport;
    }

    @Override
    protected ShardStore newStore() throws Exception {
      try {
        transport.ensureAvailable();
      } catch (IllegalStateException e) {
        Assumptions.abort(e.getMessage());
      }
      SlabPool serverSlabs = new SlabPool();
      MemoryShardStore drive = new MemoryShardStore(new DriveId(new UUID(1, 2), 1), serverSlabs);
      Loopback opened = new Loopback(transport, Loopback.Setup.DEFAULT, serverSlabs, drive);
      loopback = opened;
      return opened.store(opened.connect(opened.clientConfig(), slabs), 0);
    }

    @Override
    protected void close(ShardStore closing) throws Exception {
      if (loopback != null) {
        loopback.close();
      }
    }
  }

  /** A drive store behind a server, with slabs of its own. */
  private static final class OnDisk {
    private final SlabPool serverSlabs = new SlabPool();
    private final TestDrives.Opened drive = new TestDrives.Opened(serverSlabs);
    private @Nullable Loopback loopback;

    ShardStore open(Path folder, SlabPool slabs) throws Exception {
      Loopback opened = new Loopback(serverSlabs, drive.open(folder, IoMode.AUTO));
      loopback = opened;
      return opened.store(opened.connect(opened.clientConfig(), slabs), 0);
    }

    void close() throws Exception {
      drive.close(); // first: an idle drive may hold a slab for a moment
      if (loopback != null) {
        loopback.close();
      }
    }
  }
}
