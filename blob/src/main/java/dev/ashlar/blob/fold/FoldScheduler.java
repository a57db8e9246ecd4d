package dev.ashlar.blob.fold;

import dev.ashlar.blob.context.BackgroundLoop;
import dev.ashlar.blob.context.EngineContext;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.AttemptRow;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.FoldBlob;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.model.AttemptId;
import dev.ashlar.protocol.model.BlobId;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Folds committed changes into their shards, in the background and at a bounded rate. A blob is due
 * if it has many unfolded changes or an old one; only changes older than every running read are
 * folded. A periodic sweep of metadata finds changes that other processes committed, or that did
 * not fit here.
 */
public final class FoldScheduler implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(FoldScheduler.class);
  private static final Duration ROUND_INTERVAL = Duration.ofMillis(100);
  private static final int ROUNDS_PER_SWEEP = 100;
  private static final int SWEEP_PAGE = 1000;
  private static final int ROUND_BLOBS_MAX = 64;
  private static final int PENDING_MAX = 100_000;
  private static final int MANY = 8;
  private static final long OLD_MS = 1000;

  /** With so many unfolded changes, a blob is folded even while reads need its old bytes. */
  private static final int FULL = 32;

  /** With so many unfolded changes, shards of drives that do not answer become debts. */
  private static final int NEARLY_FULL = 24;

  /** Retried blobs per round: others must not wait for them. */
  private static final int RETRIES_PER_ROUND_MAX = 16;

  private static final int RETRY_DOUBLINGS_MAX = 5;
  private static final long WARNING_INTERVAL_MS = 60_000;

  private final EngineContext engine;
  private final MetadataClient metadata;
  private final Clock clock;
  private final ReentrantLock lock = new ReentrantLock();
  private final LinkedHashMap<BlobId, Pending> pending = new LinkedHashMap<>();
  private volatile boolean isSwept;
  private long warnedMs;
  private long rounds;
  private final BackgroundLoop loop = new BackgroundLoop("fold", ROUND_INTERVAL);

  /** Unfolded attempts of a blob, and when this process learned of each. */
  private static final class Pending {
    final long sinceMs;
    final Map<AttemptId, Long> times = new HashMap<>();

    /** Consecutive rounds in which too few drives had confirmed the attempts. */
    final int failures;

    Pending(long sinceMs, int failures) {
      this.sinceMs = sinceMs;
      this.failures = failures;
    }

    boolean isDue(long nowMs) {
      long waitMs = OLD_MS << Math.min(failures, RETRY_DOUBLINGS_MAX);
      return (failures == 0 && times.size() >= MANY) || nowMs - sinceMs >= waitMs;
    }
  }

  public FoldScheduler(EngineContext engine, Clock clock) {
    this.engine = engine;
    this.metadata = engine.metadata();
    this.clock = clock;
  }

  /**
   * Folds in the background until it is closed.
   *
   * @param oldestReadMs when the oldest running read began; now, if none is running
   */
  public void start(LongSupplier oldestReadMs) {
    loop.start(() -> nextRound(oldestReadMs));
  }

  /** Blobs with unfolded changes that this process knows of. */
  public int waiting() {
    lock.lock();
    try {
      return pending.size();
    } finally {
      lock.unlock();
    }
  }

  /** Unfolded changes that this process knows of; NaN before the first sweep. */
  public double unfoldedChanges() {
    lock.lock();
    try {
      int changes = pending.values().stream().mapToInt(each -> each.times.size()).sum();
      return isSwept ? changes : Double.NaN;
    } finally {
      lock.unlock();
    }
  }

  /** Notes that the attempt was committed. */
  public void committed(BlobId blob, AttemptId attempt) {
    lock.lock();
    try {
      long nowMs = clock.millis();
      Pending known = pending.get(blob);
      if (known == null && pending.size() < PENDING_MAX) {
        known = new Pending(nowMs, 0);
        pending.put(blob, known);
      }
      if (known != null) {
        known.times.putIfAbsent(attempt, nowMs);
      }
    } finally {
      lock.unlock();
    }
  }

  /** Folds all committed changes of these blobs, even while reads need the old bytes. */
  public void foldNow(List<BlobId> blobs)
      throws MetadataUnavailableException, InterruptedException {
    fold(blobs, Long.MAX_VALUE);
  }

  /** Folds the changes of due blobs that are older than the oldest read. */
  public void round(long oldestReadMs) throws MetadataUnavailableException, InterruptedException {
    List<BlobId> due = due();
    if (!due.isEmpty()) {
      fold(due, oldestReadMs);
    }
  }

  /** Finds unfolded attempts in metadata. */
  public void sweep() throws MetadataUnavailableException {
    BlobId after = null;
    List<BlobRow> page;
    do {
      page = metadata.unfolded(after, SWEEP_PAGE);
      for (BlobRow row : page) {
        after = BlobId.of(row.getId());
        for (AttemptRow attempt : row.getAttemptsList()) {
          committed(after, AttemptId.of(attempt.getId()));
        }
      }
    } while (page.size() == SWEEP_PAGE && waiting() < PENDING_MAX);
    isSwept = true;
  }

  private List<BlobId> due() {
    List<BlobId> due = new ArrayList<>();
    lock.lock();
    try {
      long nowMs = clock.millis();
      int retries = 0;
      for (Map.Entry<BlobId, Pending> entry : pending.entrySet()) {
        Pending each = entry.getValue();
        boolean isRetry = each.failures > 0;
        if (each.isDue(nowMs) && (!isRetry || retries < RETRIES_PER_ROUND_MAX)) {
          retries += isRetry ? 1 : 0;
          due.add(entry.getKey());
          if (due.size() == ROUND_BLOBS_MAX) {
            break;
          }
        }
      }
    } finally {
      lock.unlock();
    }
    return due;
  }

  private void fold(List<BlobId> blobs, long beforeMs)
      throws MetadataUnavailableException, InterruptedException {
    long askedMs = clock.millis();
    Map<BlobId, BlobRow> rows = new HashMap<>();
    metadata.blobs(blobs).forEach(row -> rows.put(BlobId.of(row.getId()), row));
    List<FoldJob> jobs = new ArrayList<>();
    Map<BlobId, Integer> folded = new HashMap<>();
    Set<BlobId> stuck = new HashSet<>();
    for (BlobRow row : rows.values()) {
      int count = foldable(row, beforeMs);
      if (count > 0) {
        jobs.add(new FoldJob(row, FoldJob.fitting(row, count)));
      }
    }
    long epoch = rows.values().stream().mapToLong(BlobRow::getEpoch).max().orElse(0);
    for (List<FoldJob> some : portions(jobs)) {
      FoldJob.send(
          some, engine.drives(), metadata.placement(epoch), engine.config().driveDeadline());
      for (FoldJob job : recorded(some)) {
        folded.put(BlobId.of(job.row().getId()), job.count());
      }
      some.stream()
          .filter(job -> !job.isIncomplete() && !job.mayBeRecorded())
          .forEach(job -> stuck.add(BlobId.of(job.row().getId())));
    }
    for (BlobId blob : blobs) {
      Set<AttemptId> left = left(rows.get(blob), folded.getOrDefault(blob, 0));
      settle(blob, left, askedMs, stuck.contains(blob));
    }
    warn(stuck);
  }

  /** Groups jobs so that the shard bytes of each group are bounded. */
  private static List<List<FoldJob>> portions(List<FoldJob> jobs) {
    List<List<FoldJob>> portions = new ArrayList<>();
    long bytes = Long.MAX_VALUE;
    for (FoldJob job : jobs) {
      if (bytes > FoldJob.SHARD_BYTES_MAX - job.shardBytes()) {
        portions.add(new ArrayList<>());
        bytes = 0;
      }
      portions.getLast().add(job);
      bytes += job.shardBytes();
    }
    return portions;
  }

  private static Set<AttemptId> left(@Nullable BlobRow row, int folded) {
    if (row == null || row.getReferences() == 0) {
      return Set.of();
    }
    return row.getAttemptsList().stream()
        .skip(folded)
        .map(attempt -> AttemptId.of(attempt.getId()))
        .collect(Collectors.toSet());
  }

  /** How many of the blob's oldest attempts no running read needs separately. */
  private int foldable(BlobRow row, long beforeMs) {
    if (row.getReferences() == 0) {
      return 0;
    }
    if (row.getAttemptsCount() >= FULL) {
      return row.getAttemptsCount();
    }
    Map<AttemptId, Long> times = times(BlobId.of(row.getId()));
    long nowMs = clock.millis();
    int count = 0;
    for (AttemptRow attempt : row.getAttemptsList()) {
      if (times.getOrDefault(AttemptId.of(attempt.getId()), nowMs) >= beforeMs) {
        break;
      }
      count++;
    }
    return count;
  }

  private Map<AttemptId, Long> times(BlobId blob) {
    lock.lock();
    try {
      Pending known = pending.get(blob);
      return known == null ? Map.of() : Map.copyOf(known.times);
    } finally {
      lock.unlock();
    }
  }

  /** Records the jobs in parallel, so that metadata commits them together. */
  private List<FoldJob> recorded(List<FoldJob> jobs) {
    Map<FoldJob, Future<Boolean>> results = new LinkedHashMap<>();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (FoldJob job : jobs) {
        boolean isUrgent = job.row().getAttemptsCount() >= NEARLY_FULL;
        boolean isAnswered = !job.isIncomplete() || (isUrgent && !job.isRefused());
        if (isAnswered && job.mayBeRecorded()) {
          results.put(job, threads.submit(() -> record(job)));
        }
      }
    }
    List<FoldJob> recorded = new ArrayList<>();
    results.forEach(
        (job, result) -> {
          if (result.state() == Future.State.SUCCESS && result.resultNow()) {
            recorded.add(job);
          }
        });
    return recorded;
  }

  private boolean record(FoldJob job) throws MetadataUnavailableException {
    FoldBlob.Builder fold =
        FoldBlob.newBuilder()
            .setBlob(job.row().getId())
            .setRevision(job.revision())
            .addAllAcks(job.acks());
    ResultCode code = metadata.submit(Command.newBuilder().setFoldBlob(fold)).getCode();
    if (code == ResultCode.OK) {
      engine.metrics().folds.increment();
    } else {
      LOG.debug(
          "Metadata refused to record the fold of {}: {}", BlobId.of(job.row().getId()), code);
    }
    return code == ResultCode.OK;
  }

  /**
   * Keeps the blob's remaining attempts, at the end of the queue, with those that were committed
   * after its row was requested.
   */
  private void settle(BlobId blob, Set<AttemptId> left, long askedMs, boolean isStuck) {
    lock.lock();
    try {
      Pending known = pending.remove(blob);
      if (known != null) {
        known
            .times
            .entrySet()
            .removeIf(entry -> !left.contains(entry.getKey()) && entry.getValue() < askedMs);
        if (!known.times.isEmpty()) {
          Pending rest = new Pending(clock.millis(), isStuck ? known.failures + 1 : 0);
          rest.times.putAll(known.times);
          pending.put(blob, rest);
        }
      }
    } finally {
      lock.unlock();
    }
  }

  private void warn(Set<BlobId> stuck) {
    lock.lock();
    try {
      long nowMs = clock.millis();
      if (!stuck.isEmpty() && (warnedMs == 0 || nowMs - warnedMs >= WARNING_INTERVAL_MS)) {
        warnedMs = nowMs;
        LOG.warn(
            "Cannot fold changes of {} blobs: fewer drives have confirmed them than decoding"
                + " needs. The changes are kept and retried. Bring back the missing drives, or wait"
                + " for repair. One of these blobs: {}",
            pending.values().stream().filter(each -> each.failures > 0).count(),
            stuck.iterator().next());
      }
    } finally {
      lock.unlock();
    }
  }

  private void nextRound(LongSupplier oldestReadMs)
      throws MetadataUnavailableException, InterruptedException {
    if (rounds++ % ROUNDS_PER_SWEEP == 0) {
      sweep();
    }
    round(oldestReadMs.getAsLong());
  }

  /** Ends the background thread. */
  @Override
  public void close() {
    loop.close();
  }
}
