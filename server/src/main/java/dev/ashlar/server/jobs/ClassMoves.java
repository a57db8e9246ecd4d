package dev.ashlar.server.jobs;

import dev.ashlar.blob.context.ByteRateLimiter;
import dev.ashlar.blob.move.VersionMover;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.MoveJobRow;
import dev.ashlar.protocol.model.MoveJobs;
import dev.ashlar.protocol.process.RateLimitedLog;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Clock;
import java.time.Duration;
import java.util.Optional;
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

  private final Parts parts;
  private final ByteRateLimiter usualRate;

  /** Of the job whose pace it was made for. */
  private ByteRateLimiter ownRate = new ByteRateLimiter(0);

  private long ownRateOf;
  private long ownRateBytes;

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
    this(
        new Parts(
            metadata,
            mover,
            clock,
            Meters.of(meters),
            new RateLimitedLog(LOG, Level.WARN),
            Duration.ofSeconds(10),
            Duration.ofSeconds(2)),
        usualRate);
  }

  ClassMoves(Parts parts, ByteRateLimiter usualRate) {
    this.parts = parts;
    this.usualRate = usualRate;
  }

  @Override
  public boolean run() throws MetadataUnavailableException, InterruptedException {
    if (parts.metadata().placement().profiles().size() == 1) {
      return false; // metadata may be of a build that does not know such jobs
    }
    Optional<MoveJobRow> next =
        parts.metadata().moveJobs().stream().filter(job -> !MoveJobs.isEnded(job)).findFirst();
    return next.isPresent()
        && !parts.metadata().registry().getRestored() // else another backup may be restored
        && new MoveRound(parts, next.get(), rate(next.get())).run();
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
