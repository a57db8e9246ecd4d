package dev.ashlar.protocol.client;

import dev.ashlar.protocol.memory.Slab;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.ShardId;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A drive in memory with switches to make it fail. Answers come on the caller's thread unless a
 * delay is set or answers are held.
 */
public final class MemoryShardStore implements ShardStore {
  private final ReentrantLock lock = new ReentrantLock();
  private final SlabPool slabs;
  private final ParityUpdate code;
  private final Map<ShardId, MemoryShard> shards = new HashMap<>();
  private final Set<ShardId> corrupt = new HashSet<>();
  private final ArrayDeque<Runnable> heldAnswers = new ArrayDeque<>();
  private DriveId drive;
  private @Nullable ShardFault fault;
  private @Nullable ShardFault writeFault;
  private Duration delay = Duration.ZERO;
  private boolean held;
  private long goneReads;
  private long goneReadBytes;
  private long writes;

  public MemoryShardStore(DriveId drive, SlabPool slabs) {
    this(drive, slabs, ParityUpdate.FIRST_PARITY);
  }

  public MemoryShardStore(DriveId drive, SlabPool slabs, ParityUpdate code) {
    this.drive = drive;
    this.slabs = slabs;
    this.code = code;
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
  public void read(
      ShardId shard, ShardView view, long offset, int length, Completion<ShardData> completion) {
    answer(
        completion,
        () -> {
          ShardData data = load(shard, view, offset, length);
          return () -> completion.succeeded(data);
        });
  }

  @Override
  public void prepare(ShardIntent intent, Completion<DriveId> completion) {
    answer(
        completion,
        () -> {
          checkWriteFault();
          ShardId id = intent.target().shard();
          checkCorrupt(id);
          MemoryShard shard = shards.computeIfAbsent(id, MemoryShard::new);
          shard.prepare(intent, code);
          writes++;
          return () -> completion.succeeded(drive);
        });
  }

  @Override
  public void fold(List<FoldIntent> folds, Completion<DriveId> completion) {
    answer(
        completion,
        () -> {
          checkFault();
          ShardException missing = null;
          for (FoldIntent fold : folds) {
            try {
              shard(fold.shard()).fold(fold.attempt(), fold.revision(), fold.after());
            } catch (ShardException e) {
              missing = e;
            }
          }
          if (missing != null) {
            throw missing;
          }
          return () -> completion.succeeded(drive);
        });
  }

  @Override
  public void drop(List<DiscardIntent> drops, Completion<DriveId> completion) {
    answer(
        completion,
        () -> {
          checkFault();
          for (DiscardIntent drop : drops) {
            shards.forEach(
                (id, shard) -> {
                  if (id.blob().equals(drop.blob())) {
                    shard.drop(drop.attempt());
                  }
                });
          }
          return () -> completion.succeeded(drive);
        });
  }

  @Override
  public void delete(List<BlobId> blobs, Completion<DriveId> completion) {
    answer(
        completion,
        () -> {
          checkFault();
          forgetIf(shard -> blobs.contains(shard.blob()));
          return () -> completion.succeeded(drive);
        });
  }

  @Override
  public List<BlobId> blobsBelow(long session, @Nullable BlobId after, int max)
      throws ShardException {
    lock.lock();
    try {
      checkFault();
      return shards.entrySet().stream()
          .filter(entry -> entry.getValue().hasBlocks())
          .map(entry -> entry.getKey().blob())
          .filter(blob -> Long.compareUnsigned(blob.session(), session) < 0)
          .filter(blob -> after == null || blob.compareTo(after) > 0)
          .sorted()
          .distinct()
          .limit(max)
          .toList();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public List<DiscardIntent> attemptsBelow(long session, @Nullable DiscardIntent after, int max)
      throws ShardException {
    TreeSet<DiscardIntent> found = new TreeSet<>();
    lock.lock();
    try {
      checkFault();
      shards.forEach(
          (id, shard) ->
              shard
                  .attempts()
                  .forEach(attempt -> found.add(new DiscardIntent(id.blob(), attempt))));
    } finally {
      lock.unlock();
    }
    return found.stream()
        .filter(each -> Long.compareUnsigned(each.attempt().session(), session) < 0)
        .filter(each -> after == null || each.compareTo(after) > 0)
        .limit(max)
        .toList();
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

  /**
   * From now on writes and intents (not reads, folds and deletes) fail this way; {@code null} heals
   * them.
   */
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
          forgetIf(shard -> true);
          corrupt.clear();
          drive = new DriveId(drive.id(), drive.incarnation() + 1);
          return drive;
        });
  }

  /** Another drive that holds the same, and fails no more. */
  public MemoryShardStore copy() {
    return locked(
        () -> {
          MemoryShardStore copy = new MemoryShardStore(drive, slabs, code);
          shards.forEach((id, shard) -> copy.shards.put(id, shard.copy()));
          return copy;
        });
  }

  /** Every shard of which anything is here. */
  public Set<ShardId> shards() {
    return locked(
        () ->
            shards.entrySet().stream()
                .filter(entry -> entry.getValue().storedBytes() > 0)
                .map(Map.Entry::getKey)
                .collect(Collectors.toUnmodifiableSet()));
  }

  /** The drive comes back with the next incarnation and what it had. */
  public void beginNewLife() {
    locked(() -> drive = new DriveId(drive.id(), drive.incarnation() + 1));
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

  /** Bytes of all payloads, intents included. */
  public long storedBytes() {
    return locked(() -> shards.values().stream().mapToLong(MemoryShard::storedBytes).sum());
  }

  public boolean holds(ShardId id) {
    return locked(
        () -> {
          MemoryShard shard = shards.get(id);
          return shard != null && shard.hasBlocks();
        });
  }

  /** Successful reads so far, also of old bytes for intents. */
  public long reads() {
    return locked(() -> goneReads + shards.values().stream().mapToLong(MemoryShard::reads).sum());
  }

  /** Bytes of the blocks that successful reads had to touch. */
  public long readBytes() {
    return locked(
        () -> goneReadBytes + shards.values().stream().mapToLong(MemoryShard::readBytes).sum());
  }

  /** Successful writes and intents so far. */
  public long writes() {
    return locked(() -> writes);
  }

  private DriveId store(ShardWrite write) throws ShardException {
    checkWriteFault();
    MemoryShard shard = shards.getOrDefault(write.shard(), new MemoryShard(write.shard()));
    shard.write(write);
    shards.put(write.shard(), shard);
    writes++;
    return drive;
  }

  private ShardData load(ShardId id, ShardView view, long offset, int length)
      throws ShardException {
    checkFault();
    checkCorrupt(id);
    byte[] bytes = shard(id).read(view, offset, length);
    Slab slab = slabs.acquire(length);
    slab.buffer().put(bytes);
    return new ShardData(slab, slab.slice(0, length));
  }

  /** The shard, or an empty one in its place. */
  private MemoryShard shard(ShardId id) {
    return shards.getOrDefault(id, new MemoryShard(id));
  }

  private void forgetIf(Predicate<ShardId> isGone) {
    shards.forEach(
        (id, shard) -> {
          if (isGone.test(id)) {
            goneReads += shard.reads();
            goneReadBytes += shard.readBytes();
          }
        });
    shards.keySet().removeIf(isGone);
  }

  private void checkWriteFault() throws ShardException {
    checkFault();
    if (writeFault != null) {
      throw new ShardException(writeFault, drive + " was told to fail writes");
    }
  }

  private void checkCorrupt(ShardId id) throws ShardException {
    if (corrupt.contains(id) && shards.containsKey(id)) {
      throw new ShardException(ShardFault.CORRUPT, id + " was made corrupt");
    }
  }

  private void checkFault() throws ShardException {
    if (fault != null) {
      throw new ShardException(fault, drive + " was told to fail");
    }
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
