package dev.ashlar.storage.server;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import dev.ashlar.protocol.client.Completion;
import dev.ashlar.protocol.client.DiscardIntent;
import dev.ashlar.protocol.client.FoldIntent;
import dev.ashlar.protocol.client.ShardData;
import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.client.ShardIntent;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.client.ShardView;
import dev.ashlar.protocol.client.ShardWrite;
import dev.ashlar.protocol.memory.Slab;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.ShardId;
import dev.ashlar.transport.client.RemoteShardStore;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/**
 * How much heap an operation of 4 KiB takes over a connection, both ends and the caller together:
 * less than one copy of its data.
 */
@Isolated("counts what all threads take")
class AllocationTest {
  private static final int BLOCK = 4096;
  private static final int WARM_UP = 2000;
  private static final int COUNT = 2000;
  private static final int BYTES_MAX = BLOCK;
  private static final ShardId SHARD = new ShardId(new BlobId(7, 1), 0);

  private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  @Test
  void anOperationAllocatesLittle() throws Exception {
    SlabPool serverSlabs = new SlabPool();
    try (Loopback loopback = new Loopback(serverSlabs, new InstantDrive(serverSlabs))) {
      RemoteShardStore store = loopback.store(loopback.connect(), 0);
      ByteBuffer payload = ByteBuffer.allocateDirect(BLOCK);
      int[] crcs = new int[1];
      long write = perOperation(told -> store.write(new ShardWrite(SHARD, 0, payload, crcs), told));
      long read =
          perOperation(told -> store.read(SHARD, ShardView.ORIGINAL, 0, BLOCK, releasing(told)));
      System.getLogger("test")
          .log(System.Logger.Level.WARNING, "heap bytes: read {0}, write {1}", read, write);
      assertTrue(write < BYTES_MAX, () -> write + " bytes per write");
      assertTrue(read < BYTES_MAX, () -> read + " bytes per read");
    }
  }

  private interface Operation {
    void start(Completion<DriveId> told);
  }

  private static Completion<ShardData> releasing(Completion<DriveId> told) {
    return new Completion<>() {
      @Override
      public void succeeded(ShardData data) {
        data.release();
        told.succeeded(new DriveId(new UUID(1, 1), 1));
      }

      @Override
      public void failed(ShardException failure) {
        told.failed(failure);
      }
    };
  }

  private long perOperation(Operation operation) throws InterruptedException {
    run(operation, WARM_UP);
    long before = allocated();
    run(operation, COUNT);
    return (allocated() - before) / COUNT;
  }

  /** One after the other, the next begun by the answer to the one before. */
  private static void run(Operation operation, int count) throws InterruptedException {
    CountDownLatch left = new CountDownLatch(count);
    operation.start(
        new Completion<>() {
          @Override
          public void succeeded(DriveId result) {
            left.countDown();
            if (left.getCount() > 0) {
              operation.start(this);
            }
          }

          @Override
          public void failed(ShardException failure) {
            throw new AssertionError(failure);
          }
        });
    left.await();
  }

  private long allocated() {
    long sum = 0;
    for (long bytes : threads.getThreadAllocatedBytes(threads.getAllThreadIds())) {
      sum += Math.max(0, bytes);
    }
    return sum;
  }

  /** Answers at once, with whatever is in memory. */
  private static final class InstantDrive implements ShardStore {
    private final DriveId id = new DriveId(new UUID(1, 2), 1);
    private final SlabPool slabs;

    InstantDrive(SlabPool slabs) {
      this.slabs = slabs;
    }

    @Override
    public DriveId drive() {
      return id;
    }

    @Override
    public @Nullable ShardFault writeRefusal() {
      return null;
    }

    @Override
    public void write(ShardWrite write, Completion<DriveId> completion) {
      completion.succeeded(id);
    }

    @Override
    public void read(
        ShardId shard, ShardView view, long offset, int length, Completion<ShardData> completion) {
      Slab slab = slabs.acquire(length);
      completion.succeeded(new ShardData(slab, slab.slice(0, length)));
    }

    @Override
    public void prepare(ShardIntent intent, Completion<DriveId> completion) {
      completion.succeeded(id);
    }

    @Override
    public void fold(List<FoldIntent> folds, Completion<DriveId> completion) {
      completion.succeeded(id);
    }

    @Override
    public void drop(List<DiscardIntent> drops, Completion<DriveId> completion) {
      completion.succeeded(id);
    }

    @Override
    public void delete(List<BlobId> blobs, Completion<DriveId> completion) {
      completion.succeeded(id);
    }

    @Override
    public List<BlobId> blobsBelow(long session, @Nullable BlobId after, int max) {
      return List.of();
    }

    @Override
    public List<DiscardIntent> attemptsBelow(long session, @Nullable DiscardIntent after, int max) {
      return List.of();
    }
  }
}
