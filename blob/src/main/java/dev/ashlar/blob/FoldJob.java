package dev.ashlar.blob;

import dev.ashlar.protocol.client.Completion;
import dev.ashlar.protocol.client.Fold;
import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.message.AttemptRow;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.SlotAck;
import dev.ashlar.protocol.model.AttemptId;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.PlacementMap;
import dev.ashlar.protocol.model.ShardId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Folding the first attempts of one blob on all drives that hold their intents. */
final class FoldJob {
  private final BlobRow row;
  private final int count;

  /** Per slot that the attempts touched, what it has to fold, in order. */
  private final Map<Integer, List<Fold>> folds = new TreeMap<>();

  private final List<SlotAck> acks = new ArrayList<>();
  private boolean isIncomplete;
  private boolean isRefused;

  FoldJob(BlobRow row, int count) {
    this.row = row;
    this.count = count;
    for (AttemptRow attempt : row.getAttemptsList().subList(0, count)) {
      for (int slot : attempt.getSlotsList()) {
        if (!row.getDebtSlotsList().contains(slot)) {
          ShardId shard = new ShardId(BlobId.of(row.getId()), slot);
          List<Fold> before = folds.computeIfAbsent(slot, each -> new ArrayList<>());
          long after =
              before.isEmpty() ? ShardViews.folded(row, slot) : before.getLast().revision();
          before.add(new Fold(shard, AttemptId.of(attempt.getId()), attempt.getRevision(), after));
        }
      }
    }
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

  /** Whether a drive that may hold intents has not folded them, and may do so later. */
  boolean isIncomplete() {
    return isIncomplete;
  }

  /** Whether a drive has no room for now: that passes, and must not become a debt. */
  boolean isRefused() {
    return isRefused;
  }

  /** One slot of one job. */
  private record Part(FoldJob job, int slot) {
    List<Fold> folds() {
      return job.folds.getOrDefault(slot, List.of());
    }
  }

  /** Folds all jobs, with one call per drive where that goes well. */
  static void send(
      List<FoldJob> jobs,
      Function<UUID, @Nullable ShardStore> drives,
      PlacementMap placement,
      Duration deadline)
      throws InterruptedException {
    Map<UUID, List<Part>> byDrive = new LinkedHashMap<>();
    for (FoldJob job : jobs) {
      for (int slot : job.folds.keySet()) {
        UUID drive = placement.drive(job.row.getPg(), slot);
        byDrive.computeIfAbsent(drive, id -> new ArrayList<>()).add(new Part(job, slot));
      }
    }
    List<Call> calls = new ArrayList<>();
    byDrive.forEach((drive, parts) -> calls.add(new Call(drives.apply(drive), parts)));
    List<Call> again = new ArrayList<>();
    for (Call call : calls) {
      if (call.await(deadline) == ShardFault.MISSING && call.parts.size() > 1) {
        // Which of them are missing is to be told apart.
        call.parts.forEach(part -> again.add(new Call(call.store, List.of(part))));
      } else {
        call.tell();
      }
    }
    for (Call call : again) {
      call.await(deadline);
      call.tell();
    }
  }

  /** One drive's answer on its way; asked for in the constructor. */
  private static final class Call implements Completion<DriveId> {
    private final @Nullable ShardStore store;
    private final List<Part> parts;
    private final CountDownLatch done = new CountDownLatch(1);
    private final long askedNanos = System.nanoTime();
    private volatile @Nullable DriveId drive;
    private volatile ShardFault fault = ShardFault.UNAVAILABLE;

    Call(@Nullable ShardStore store, List<Part> parts) {
      this.store = store;
      this.parts = parts;
      if (store == null) {
        done.countDown();
      } else {
        store.fold(parts.stream().flatMap(part -> part.folds().stream()).toList(), this);
      }
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

    /** What is missing for good is a debt; what did not answer may come later. */
    void tell() {
      DriveId by = drive;
      for (Part part : parts) {
        if (by != null) {
          part.job.acks.add(SlotWrites.ack(part.slot, by));
        } else if (fault != ShardFault.MISSING) {
          part.job.isIncomplete = true;
          part.job.isRefused |= fault == ShardFault.OVERLOADED || fault == ShardFault.FULL;
        }
      }
    }
  }
}
