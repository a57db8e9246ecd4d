package dev.ashlar.blob.fold;

import dev.ashlar.blob.context.BlobRows;
import dev.ashlar.protocol.client.Completion;
import dev.ashlar.protocol.client.FoldIntent;
import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.message.AttemptRow;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.SlotAck;
import dev.ashlar.protocol.model.AttemptId;
import dev.ashlar.protocol.model.ChangeHolders;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.PlacementMap;
import dev.ashlar.protocol.model.ShardId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Folds the first attempts of one blob on all drives that hold their intents. */
final class FoldJob {
  /**
   * Shard bytes of a call: a drive records all folded blocks of a call in one batch. Only a single
   * attempt may be larger.
   */
  static final long SHARD_BYTES_MAX = 64 << 20;

  private final BlobRow row;
  private final int count;

  /** Per slot that the attempts touched, its folds in order. */
  private final Map<Integer, List<FoldIntent>> folds = new TreeMap<>();

  private final List<SlotAck> acks = new ArrayList<>();
  private boolean isIncomplete;
  private boolean isRefused;

  FoldJob(BlobRow row, int count) {
    this.row = row;
    this.count = count;
    Set<Integer> holders = ChangeHolders.of(row, count);
    for (AttemptRow attempt : row.getAttemptsList().subList(0, count)) {
      for (int slot : attempt.getSlotsList()) {
        if (holders.contains(slot)) {
          ShardId shard = ShardId.of(row, slot);
          List<FoldIntent> before = folds.computeIfAbsent(slot, each -> new ArrayList<>());
          long after = before.isEmpty() ? BlobRows.folded(row, slot) : before.getLast().revision();
          before.add(
              new FoldIntent(shard, AttemptId.of(attempt.getId()), attempt.getRevision(), after));
        }
      }
    }
  }

  /** How many of the first attempts fit one call; at least one. */
  static int fitting(BlobRow row, int count) {
    long bytes = 0;
    for (int i = 0; i < count; i++) {
      bytes += shardBytes(row, row.getAttempts(i));
      if (bytes > SHARD_BYTES_MAX) {
        return Math.max(1, i);
      }
    }
    return count;
  }

  private static long shardBytes(BlobRow row, AttemptRow attempt) {
    long stripes = attempt.getLastStripe() - attempt.getFirstStripe() + 1;
    return stripes * row.getProfile().getStripeUnit();
  }

  /** Maximum bytes folded into one shard. */
  long shardBytes() {
    return row.getAttemptsList().subList(0, count).stream()
        .mapToLong(attempt -> shardBytes(row, attempt))
        .sum();
  }

  BlobRow row() {
    return row;
  }

  int count() {
    return count;
  }

  long revision() {
    return row.getAttempts(count - 1).getRevision();
  }

  List<SlotAck> acks() {
    return acks;
  }

  /** Whether enough drives have folded, so that the intents of others are not needed. */
  boolean mayBeRecorded() {
    List<Integer> folded = acks.stream().map(SlotAck::getSlot).toList();
    return ChangeHolders.mayLeave(row, count, folded, row.getDebtSlotsList());
  }

  /** Whether a drive that may hold intents has not folded them, but may later. */
  boolean isIncomplete() {
    return isIncomplete;
  }

  /** Whether a drive is temporarily full or overloaded: that must not become a debt. */
  boolean isRefused() {
    return isRefused;
  }

  /** One slot of one job. */
  private record Part(FoldJob job, int slot) {
    List<FoldIntent> folds() {
      return job.folds.getOrDefault(slot, List.of());
    }
  }

  /** Folds all jobs with one call per drive; large jobs one drive at a time. */
  static void send(
      List<FoldJob> jobs,
      Function<UUID, @Nullable ShardStore> drives,
      PlacementMap placement,
      Duration deadline)
      throws InterruptedException {
    Map<UUID, List<Part>> byDrive = new LinkedHashMap<>();
    for (FoldJob job : jobs) {
      for (int slot : job.folds.keySet()) {
        UUID drive = placement.location(job.row, slot);
        byDrive.computeIfAbsent(drive, id -> new ArrayList<>()).add(new Part(job, slot));
      }
    }
    boolean isMuch = jobs.stream().mapToLong(FoldJob::shardBytes).sum() > SHARD_BYTES_MAX;
    List<Call> calls = new ArrayList<>();
    for (Map.Entry<UUID, List<Part>> drive : byDrive.entrySet()) {
      Call call = Call.start(drives.apply(drive.getKey()), drive.getValue());
      calls.add(call);
      if (isMuch) {
        call.await(deadline);
      }
    }
    List<Call> again = new ArrayList<>();
    for (Call call : calls) {
      ShardFault failure = call.await(deadline);
      if (failure == ShardFault.MISSING && call.parts.size() > 1) {
        // Separate calls tell which of them are missing.
        call.parts.forEach(part -> again.add(Call.start(call.store, List.of(part))));
      } else {
        call.tell(failure);
      }
    }
    for (Call call : again) {
      call.tell(call.await(deadline));
    }
  }

  /** A call to one drive. */
  private static final class Call implements Completion<DriveId> {
    private final @Nullable ShardStore store;
    private final List<Part> parts;
    private final CountDownLatch done = new CountDownLatch(1);
    private final long askedNanos = System.nanoTime();
    private volatile @Nullable DriveId drive;
    private volatile ShardFault fault = ShardFault.UNAVAILABLE;

    private Call(@Nullable ShardStore store, List<Part> parts) {
      this.store = store;
      this.parts = parts;
    }

    static Call start(@Nullable ShardStore store, List<Part> parts) {
      Call call = new Call(store, parts);
      if (store == null) {
        call.done.countDown();
      } else {
        store.fold(parts.stream().flatMap(part -> part.folds().stream()).toList(), call);
      }
      return call;
    }

    @Override
    public void succeeded(DriveId result) {
      drive = result;
      done.countDown();
    }

    @Override
    public void failed(ShardException failure) {
      fault = failure.fault();
      done.countDown();
    }

    /** The fault, or null. */
    @Nullable ShardFault await(Duration deadline) throws InterruptedException {
      long left = deadline.toNanos() - (System.nanoTime() - askedNanos);
      boolean isAnswered = done.await(left, TimeUnit.NANOSECONDS);
      return isAnswered && drive != null ? null : fault;
    }

    /**
     * Records the result: missing intents become debts, other failures may be retried.
     *
     * @param failure the answer to all parts; a later one may concern one part only
     */
    void tell(@Nullable ShardFault failure) {
      DriveId by = drive;
      for (Part part : parts) {
        if (failure == null && by != null) {
          part.job.acks.add(BlobRows.ack(part.slot, by));
        } else if (failure != ShardFault.MISSING) {
          part.job.isIncomplete = true;
          part.job.isRefused |= failure == ShardFault.OVERLOADED || failure == ShardFault.FULL;
        }
      }
    }
  }
}
