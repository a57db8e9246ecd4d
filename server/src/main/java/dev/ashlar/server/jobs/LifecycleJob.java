package dev.ashlar.server.jobs;

import dev.ashlar.blob.context.ByteRateLimiter;
import dev.ashlar.blob.move.VersionMover;
import dev.ashlar.gateway.lifecycle.LifecycleCalendar;
import dev.ashlar.gateway.lifecycle.LifecycleDocuments;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.BucketRow;
import dev.ashlar.protocol.process.RateLimitedLog;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Clock;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Carries out the lifecycle rules of all buckets: a scan of each bucket on each day, and another
 * one when its rules have changed. Buckets take turns, some seconds each. How far a scan is, is a
 * document of its bucket, so that any gateway continues it. Scans wait while a restore from a
 * backup is not accepted.
 */
public final class LifecycleJob implements PeriodicJobs.Job {
  private static final Logger LOG = LoggerFactory.getLogger(LifecycleJob.class);
  private static final int PAGE = 1000;
  private static final Duration FULL_PAUSE = Duration.ofSeconds(30);

  private final Parts parts;

  /** By the id of the bucket. */
  private final Map<Long, Scanned> scanned = new HashMap<>();

  /** Of deletions that go on, by the id of the bucket. */
  private final Map<Long, Long> daysBehind = new HashMap<>();

  /** The bucket that had its turn last. */
  private String last = "";

  /**
   * A scan that is over, or that waits.
   *
   * @param revision of the bucket's configuration
   * @param day on which it began
   * @param untilNanos 0: until the next day
   */
  private record Scanned(long revision, long day, long untilNanos) {}

  /**
   * What scans are made with.
   *
   * @param now milliseconds since 1970
   * @param rate of versions that are looked at
   * @param moveRate of bytes that are moved
   * @param slice of time after which it is the turn of another bucket
   * @param page versions or uploads that are listed at once
   */
  record Parts(
      MetadataClient metadata,
      PatientMover mover,
      LongSupplier now,
      LifecycleCalendar calendar,
      ByteRateLimiter rate,
      ByteRateLimiter moveRate,
      LifecycleMeters meters,
      RateLimitedLog failures,
      Duration slice,
      int page) {}

  /**
   * @param clock of the machine
   * @param time the one by which metadata dates what it writes; the earlier one of both counts, so
   *     that a clock which is ahead deletes nothing
   * @param rate of versions that are looked at
   * @param moveRate of bytes that are moved
   */
  public LifecycleJob(
      MetadataClient metadata,
      VersionMover mover,
      Clock clock,
      Clock time,
      LifecycleCalendar calendar,
      ByteRateLimiter rate,
      ByteRateLimiter moveRate,
      MeterRegistry meters) {
    this(
        new Parts(
            metadata,
            new PatientMover(mover),
            () -> Math.min(clock.millis(), time.millis()),
            calendar,
            rate,
            moveRate,
            LifecycleMeters.of(meters),
            new RateLimitedLog(LOG, Level.WARN),
            Duration.ofSeconds(10),
            PAGE));
  }

  LifecycleJob(Parts parts) {
    this.parts = parts;
  }

  /** Whether the bucket has rules. */
  public static boolean hasRules(BucketRow bucket) {
    return (bucket.getDocuments() & 1 << LifecycleDocuments.RULES) != 0;
  }

  @Override
  public boolean run() throws MetadataUnavailableException, InterruptedException {
    List<BucketRow> buckets =
        parts.metadata().buckets().stream().filter(LifecycleJob::hasRules).toList();
    Set<Long> ids = new HashSet<>();
    buckets.forEach(bucket -> ids.add(bucket.getId()));
    scanned.keySet().retainAll(ids);
    daysBehind.keySet().retainAll(ids);
    Optional<BucketRow> next = next(buckets);
    if (next.isEmpty() || parts.metadata().registry().getRestored()) {
      return false; // else another backup may be restored
    }
    BucketRow bucket = next.get();
    last = bucket.getName();
    LifecycleScan scan = new LifecycleScan(parts, bucket);
    switch (scan.run()) {
      case DONE -> scanned.put(bucket.getId(), new Scanned(scan.revision(), scan.day(), 0));
      case FULL ->
          scanned.put(
              bucket.getId(),
              new Scanned(scan.revision(), scan.day(), System.nanoTime() + FULL_PAUSE.toNanos()));
      case MORE -> scanned.remove(bucket.getId());
    }
    daysBehind.put(bucket.getId(), scan.daysBehind());
    tellDaysBehind();
    return true;
  }

  /** The next one behind the last one whose scan is due. */
  private Optional<BucketRow> next(List<BucketRow> buckets) {
    long today = parts.calendar().day(parts.now().getAsLong());
    List<BucketRow> due = buckets.stream().filter(bucket -> isDue(bucket, today)).toList();
    return due.stream()
        .filter(bucket -> bucket.getName().compareTo(last) > 0)
        .findFirst()
        .or(() -> due.stream().findFirst());
  }

  private boolean isDue(BucketRow bucket, long today) {
    Scanned before = scanned.get(bucket.getId());
    if (before == null || before.revision() != bucket.getConfigRevision()) {
      return true;
    }
    return before.untilNanos() == 0
        ? before.day() != today
        : System.nanoTime() - before.untilNanos() >= 0;
  }

  private void tellDaysBehind() {
    long most = daysBehind.values().stream().mapToLong(Long::longValue).max().orElse(0);
    parts.meters().daysBehind().set(most);
  }

  /** It is the turn of another gateway. */
  public void forget() {
    scanned.clear();
    daysBehind.clear();
    tellDaysBehind();
  }
}
