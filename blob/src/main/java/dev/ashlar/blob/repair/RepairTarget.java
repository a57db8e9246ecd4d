package dev.ashlar.blob.repair;

import dev.ashlar.blob.context.AbortedWriteCleaner;
import dev.ashlar.blob.context.BlobRows;
import dev.ashlar.codec.checksum.Crc32c;
import dev.ashlar.protocol.client.Completion;
import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.client.ShardWrite;
import dev.ashlar.protocol.memory.Slab;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.RepairedShard;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.ShardId;
import java.nio.ByteBuffer;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * A shard that repair writes: its slot, drive and name. Used by one thread; drives answer on other
 * threads.
 */
final class RepairTarget {
  private final BlobRow row;
  private final int slot;
  private final ShardStore store;
  private final @Nullable ShardStore source;
  private final BlobId name;

  /** Writes without an answer, plus one until the action afterwards is known. */
  private final AtomicInteger unanswered = new AtomicInteger(1);

  private final AtomicReference<@Nullable Runnable> afterwards = new AtomicReference<>();
  private boolean wasSent;
  private volatile @Nullable DriveId acknowledgedBy;
  private volatile boolean hasFailed;

  /**
   * @param row in whose state the shard is written
   * @param source the drive that has or had the shard; null if it cannot be reached
   * @param name under which the drive stores the shard
   */
  RepairTarget(BlobRow row, int slot, ShardStore store, @Nullable ShardStore source, BlobId name) {
    this.row = row;
    this.slot = slot;
    this.store = store;
    this.source = source;
    this.name = name;
  }

  int slot() {
    return slot;
  }

  ShardStore store() {
    return store;
  }

  @Nullable ShardStore source() {
    return source;
  }

  /** Whether the shard moves to another drive. */
  boolean isElsewhere() {
    return source == null || !source.drive().id().equals(store.drive().id());
  }

  boolean isRenamed() {
    return !name.equals(ShardId.name(row, slot));
  }

  boolean hasFailed() {
    return hasFailed;
  }

  /** Marks it as failed, whatever the drive answers. */
  void giveUp() {
    hasFailed = true;
  }

  /** Marks it as failed if answers are missing. */
  void giveUpUnanswered() {
    if (unanswered.get() > 1) {
      hasFailed = true;
    }
  }

  /** Notes an answer of this incarnation of the drive. */
  void acknowledge(DriveId drive) {
    DriveId before = acknowledgedBy;
    acknowledgedBy = drive;
    if (before != null && !before.equals(drive)) {
      hasFailed = true; // a new incarnation in between
    }
  }

  /**
   * Sends a piece of the shard.
   *
   * @param slab of the bytes; retained until the drive is done with them
   * @param done counted down then
   */
  void write(long offset, ByteBuffer bytes, Slab slab, CountDownLatch done) {
    slab.retain();
    wasSent = true;
    unanswered.incrementAndGet();
    store.write(
        new ShardWrite(new ShardId(name, slot), offset, bytes, Crc32c.blockCrcs(bytes)),
        new Completion<>() {
          @Override
          public void succeeded(DriveId drive) {
            acknowledge(drive);
            finished();
          }

          @Override
          public void failed(ShardException failure) {
            giveUp();
            finished();
          }

          private void finished() {
            slab.release();
            answered();
            done.countDown();
          }
        });
  }

  private void answered() {
    Runnable last = unanswered.decrementAndGet() == 0 ? afterwards.get() : null;
    if (last != null) {
      last.run();
    }
  }

  /** Removes the written shard after the drive's last answer. */
  void discard(AbortedWriteCleaner leftovers) {
    if (wasSent && afterwards.compareAndSet(null, () -> leftovers.remove(store, name))) {
      answered();
    }
  }

  /** Removes the old shard, if the new one has another name. */
  void removeOld(AbortedWriteCleaner leftovers) {
    if (isRenamed() && source != null) {
      leftovers.remove(source, ShardId.name(row, slot));
    }
  }

  /** The record that the shard is present. */
  RepairedShard toMessage() {
    DriveId by = acknowledgedBy;
    if (by == null || hasFailed) {
      throw new IllegalStateException("slot " + slot + " of " + row + " was not repaired");
    }
    return RepairedShard.newBuilder()
        .setAck(BlobRows.ack(slot, by))
        .setName(name.toMessage())
        .setNameBefore(ShardId.name(row, slot).toMessage())
        .setLastChange(BlobRows.view(row, slot).lastChange())
        .build();
  }
}
