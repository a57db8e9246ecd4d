package dev.ashlar.protocol.client;

import dev.ashlar.protocol.memory.Slab;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.protocol.model.ShardId;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * A drive in memory with switches to make it fail. Answers come on the caller's thread unless a
 * delay is set or answers are held.
 */
public final class MemoryShardStore implements ShardStore {
  private static final int BLOCK = Profile.BLOCK_BYTES;

  /** Every block of a shard with its checksum, by block number. */
  private static final class Shard {
    final TreeMap<Long, Block> blocks = new TreeMap<>();
  }

  private record Block(byte[] bytes, int crc) {}

  private final ReentrantLock lock = new ReentrantLock();
  private final SlabPool slabs;
  private final Map<ShardId, Shard> shards = new HashMap<>();
  private final Set<ShardId> corrupt = new HashSet<>();
  private final ArrayDeque<Runnable> heldAnswers = new ArrayDeque<>();
  private DriveId drive;
  private @Nullable ShardFault fault;
  private @Nullable ShardFault writeFault;
  private Duration delay = Duration.ZERO;
  private boolean held;
  private long reads;
  private long readBytes;
  private long writes;

  public MemoryShardStore(DriveId drive, SlabPool slabs) {
    this.drive = drive;
    this.slabs = slabs;
  }

  @Override
  public DriveId drive() {
    return locked(() -> drive);
  }

  @Override
  public @Nullable ShardFault writeRefusal() {
    lock.lock();
    try {
      return fault != null ? fault : writeFault;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void write(ShardWrite write, Completion<DriveId> completion) {
    answer(
        completion,
        () -> {
          DriveId stored = store(write);
          return () -> completion.succeeded(stored);
        });
  }

  @Override
  public void read(ShardId shard, long offset, int length, Completion<ShardData> completion) {
    answer(
        completion,
        () -> {
          ShardData data = load(shard, offset, length);
          return () -> completion.succeeded(data);
        });
  }

  @Override
  public void delete(List<BlobId> blobs, Completion<DriveId> completion) {
    answer(
        completion,
        () -> {
          checkFault();
          shards.keySet().removeIf(shard -> blobs.contains(shard.blob()));
          return () -> completion.succeeded(drive);
        });
  }

  @Override
  public void forEachBlobBelow(long session, Consumer<BlobId> visitor) throws ShardException {
    TreeSet<BlobId> found = new TreeSet<>();
    lock.lock();
    try {
      checkFault();
      for (ShardId shard : shards.keySet()) {
        if (Long.compareUnsigned(shard.blob().session(), session) < 0) {
          found.add(shard.blob());
        }
      }
    } finally {
      lock.unlock();
    }
    found.forEach(visitor);
  }

  /** From now on every operation fails this way; {@code null} heals it. */
  public void failAll(@Nullable ShardFault newFault) {
    lock.lock();
    try {
      fault = newFault;
    } finally {
      lock.unlock();
    }
  }

  /** From now on writes (not reads and deletes) fail this way; {@code null} heals them. */
  public void failWrites(@Nullable ShardFault newFault) {
    lock.lock();
    try {
      writeFault = newFault;
    } finally {
      lock.unlock();
    }
  }

  /** Reads of this shard answer {@link ShardFault#CORRUPT} until it is deleted. */
  public void corrupt(ShardId shard) {
    locked(() -> corrupt.add(shard));
  }

  /** Everything is gone, and the drive comes back with the next incarnation. */
  public void wipe() {
    locked(
        () -> {
          shards.clear();
          corrupt.clear();
          drive = new DriveId(drive.id(), drive.incarnation() + 1);
          return drive;
        });
  }

  /** Answers come this much later, on another thread; zero: at once. */
  public void delay(Duration newDelay) {
    locked(() -> delay = newDelay);
  }

  /** Operations take effect but nobody is told until {@link #releaseAnswers}. */
  public void holdAnswers() {
    locked(() -> held = true);
  }

  /** Tells, on this thread, what was held, and ends the holding. */
  public void releaseAnswers() {
    List<Runnable> waiting =
        locked(
            () -> {
              held = false;
              List<Runnable> all = new ArrayList<>(heldAnswers);
              heldAnswers.clear();
              return all;
            });
    waiting.forEach(Runnable::run);
  }

  /** Bytes of all payloads. */
  public long storedBytes() {
    return locked(
        () ->
            shards.values().stream()
                .flatMap(shard -> shard.blocks.values().stream())
                .mapToLong(block -> block.bytes.length)
                .sum());
  }

  public boolean holds(ShardId shard) {
    return locked(() -> shards.containsKey(shard));
  }

  /** Successful reads so far. */
  public long reads() {
    return locked(() -> reads);
  }

  /** Bytes of the blocks that successful reads had to touch. */
  public long readBytes() {
    return locked(() -> readBytes);
  }

  /** Successful writes so far. */
  public long writes() {
    return locked(() -> writes);
  }

  private DriveId store(ShardWrite write) throws ShardException {
    checkFault();
    if (writeFault != null) {
      throw new ShardException(writeFault, drive + " was told to fail writes");
    }
    ByteBuffer payload = write.payload().duplicate();
    Map<Long, Block> blocks = new HashMap<>();
    for (int i = 0; i < write.blockCrcs().length; i++) {
      byte[] bytes = new byte[Math.min(BLOCK, payload.remaining())];
      payload.get(bytes);
      if (crc(bytes) != write.blockCrcs()[i]) {
        throw new ShardException(ShardFault.CORRUPT, write.shard() + ": payload and checksum");
      }
      blocks.put(write.offset() / BLOCK + i, new Block(bytes, write.blockCrcs()[i]));
    }
    shards.computeIfAbsent(write.shard(), id -> new Shard()).blocks.putAll(blocks);
    writes++;
    return drive;
  }

  private ShardData load(ShardId id, long offset, int length) throws ShardException {
    checkFault();
    if (corrupt.contains(id) && shards.containsKey(id)) {
      throw new ShardException(ShardFault.CORRUPT, id + " was made corrupt");
    }
    long firstBlock = offset / BLOCK;
    long lastBlock = (offset + length - 1) / BLOCK;
    Slab slab = slabs.acquire((int) (lastBlock - firstBlock + 1) * BLOCK);
    try {
      ByteBuffer memory = slab.buffer();
      for (long number = firstBlock; number <= lastBlock; number++) {
        Block block = block(id, number);
        long end = number * BLOCK + block.bytes.length;
        if (number < lastBlock ? block.bytes.length < BLOCK : end < offset + length) {
          throw missing(id, number);
        }
        memory.put(block.bytes);
        readBytes += block.bytes.length;
      }
      reads++;
      return new ShardData(slab, slab.slice((int) (offset % BLOCK), length));
    } catch (ShardException e) {
      slab.release();
      throw e;
    }
  }

  private Block block(ShardId id, long number) throws ShardException {
    Shard shard = shards.get(id);
    Block block = shard == null ? null : shard.blocks.get(number);
    if (block == null) {
      throw missing(id, number);
    }
    return block;
  }

  private void checkFault() throws ShardException {
    if (fault != null) {
      throw new ShardException(fault, drive + " was told to fail");
    }
  }

  private static ShardException missing(ShardId id, long block) {
    return new ShardException(ShardFault.MISSING, id + " block " + block);
  }

  private static int crc(byte[] bytes) {
    CRC32C crc = new CRC32C();
    crc.update(bytes);
    return (int) crc.getValue();
  }

  /** Does the work under the lock and returns how to tell of it. */
  private interface Action {
    Runnable run() throws ShardException;
  }

  private interface Locked<T> {
    T run();
  }

  private <T> T locked(Locked<T> action) {
    lock.lock();
    try {
      return action.run();
    } finally {
      lock.unlock();
    }
  }

  private void answer(Completion<?> completion, Action action) {
    Runnable told;
    Duration wait;
    lock.lock();
    try {
      told = outcome(completion, action);
      if (held) {
        heldAnswers.add(told);
        return;
      }
      wait = delay;
    } finally {
      lock.unlock();
    }
    if (wait.isZero()) {
      told.run();
    } else {
      CompletableFuture.delayedExecutor(wait.toNanos(), TimeUnit.NANOSECONDS).execute(told);
    }
  }

  private static Runnable outcome(Completion<?> completion, Action action) {
    try {
      return action.run();
    } catch (ShardException e) {
      return () -> completion.failed(e);
    }
  }
}
