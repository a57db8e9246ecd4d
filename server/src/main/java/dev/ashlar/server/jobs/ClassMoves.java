package dev.ashlar.server.jobs;

import dev.ashlar.blob.context.ByteRateLimiter;
import dev.ashlar.blob.move.VersionMover;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.MoveJobRow;
import dev.ashlar.protocol.model.MoveJobs;
import dev.ashlar.protocol.process.RateLimitedLog;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Carries out the jobs that move versions to other storage classes, one at a time, in the order in
 * which they were given. How far they are is in metadata, so that any gateway continues them. They
 * wait while a restore from a backup is not accepted.
 */
public final class ClassMoves implements PeriodicJobs.Job {
  private static final Logger LOG = LoggerFactory.getLogger(ClassMoves.class);

  private static final List<MoveJobRow.State> UNENDED =
      List.of(
          MoveJobRow.State.WAITING,
          MoveJobRow.State.COUNTING,
          MoveJobRow.State.RUNNING,
          MoveJobRow.State.FULL);

  private final Parts parts;
  private final ByteRateLimiter usualRate;

  /** Of the job whose pace it was made for. */
  private ByteRateLimiter ownRate = new ByteRateLimiter(0);

  private long ownRateOf;
  private long ownRateBytes;

  /** Null: not known, or it is the turn of another gateway. */
  private volatile @Nullable List<MoveJobRow> known;

  /**
   * What moves are made with.
   *
   * @param slice of time after which a round ends
   * @param save interval at which progress is recorded, and it is looked whether the job still runs
   */
  record Parts(
      MetadataClient metadata,
      VersionMover mover,
      Clock clock,
      Meters meters,
      RateLimitedLog failures,
      Duration slice,
      Duration save) {}

  /** What is counted. */
  record Meters(Counter versions, Counter bytes, Counter failures) {
    static Meters of(MeterRegistry registry) {
      return new Meters(
          Counter.builder("ashlar.profile.moved.versions")
              .description("Versions of objects that were moved to another profile")
              .register(registry),
          Counter.builder("ashlar.profile.moved")
              .description("Bytes of objects that were moved to another profile")
              .baseUnit("bytes")
              .register(registry),
          Counter.builder("ashlar.profile.move.failures")
              .description("Attempts to move a version to another profile that failed")
              .register(registry));
    }
  }

  /**
   * @param usualRate of jobs that have no pace of their own
   */
  public ClassMoves(
      MetadataClient metadata,
      VersionMover mover,
      ByteRateLimiter usualRate,
      Clock clock,
      MeterRegistry meters) {
    this.parts =
        new Parts(
            metadata,
            mover,
            clock,
            Meters.of(meters),
            new RateLimitedLog(LOG, Level.WARN),
            Duration.ofSeconds(10),
            Duration.ofSeconds(2));
    this.usualRate = usualRate;
    for (MoveJobRow.State state : UNENDED) {
      Gauge.builder("ashlar.profile.moves", () -> count(state))
          .description(
              "Moves to other profiles that have not ended, where they are carried out; full: it waits"
                  + " for room on drives")
          .tag("state", state.name().toLowerCase(Locale.ROOT))
          .register(meters);
    }
  }

  private double count(MoveJobRow.State state) {
    List<MoveJobRow> jobs = known;
    return jobs == null
        ? Double.NaN
        : (double) jobs.stream().filter(job -> job.getState() == state).count();
  }

  /** It is the turn of another gateway. */
  public void skip() {
    known = null;
  }

  @Override
  public boolean run() throws MetadataUnavailableException, InterruptedException {
    List<MoveJobRow> jobs = null;
    try {
      jobs = jobs();
    } finally {
      known = jobs;
    }
    Optional<MoveJobRow> next = jobs.stream().filter(job -> !MoveJobs.isEnded(job)).findFirst();
    return next.isPresent()
        && !parts.metadata().registry().getRestored() // else another backup may be restored
        && new MoveRound(parts, next.get(), rate(next.get())).run();
  }

  /** Metadata may be of a build that knows one profile only, and cannot be asked. */
  private List<MoveJobRow> jobs() throws MetadataUnavailableException {
    boolean isOne = parts.metadata().placement().profiles().size() == 1;
    return isOne ? List.of() : parts.metadata().moveJobs();
  }

  private ByteRateLimiter rate(MoveJobRow job) {
    if (job.getBytesPerSecond() == 0) {
      return usualRate;
    }
    if (ownRateOf != job.getId() || ownRateBytes != job.getBytesPerSecond()) {
      ownRateOf = job.getId();
      ownRateBytes = job.getBytesPerSecond();
      ownRate = new ByteRateLimiter(ownRateBytes);
    }
    return ownRate;
  }
}
