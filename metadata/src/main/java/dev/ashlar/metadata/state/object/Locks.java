package dev.ashlar.metadata.state.object;

import static dev.ashlar.metadata.state.apply.ApplyContext.require;

import dev.ashlar.metadata.state.apply.ApplyContext;
import dev.ashlar.metadata.state.apply.MetadataVersion;
import dev.ashlar.protocol.message.BucketRow;
import dev.ashlar.protocol.message.DefaultRetention;
import dev.ashlar.protocol.message.ObjectLock;
import dev.ashlar.protocol.message.ObjectRow;
import dev.ashlar.protocol.message.ResultCode;
import java.time.Instant;
import java.time.ZoneOffset;

/**
 * The locks of versions: a retention until some time, and a legal hold. Only buckets whose
 * versioning can never be suspended have locked versions, so nothing but a delete of a version by
 * its id can remove one.
 */
final class Locks {
  private Locks() {}

  /**
   * The time that retentions are compared with: the earlier one of the command's time and log time,
   * so that a clock that is ahead frees nothing.
   */
  private static long nowMs(ApplyContext context) {
    return Math.min(context.timeMs(), context.logTimeMs());
  }

  /** Refuses a command that would delete a locked version. */
  static void requireDeletable(ApplyContext context, ObjectRow row, boolean bypassesGovernance) {
    ObjectLock lock = row.getLock();
    require(!lock.getLegalHold(), ResultCode.OBJECT_LOCKED);
    require(
        !isRetained(context, lock)
            || (lock.getMode() == ObjectLock.Mode.GOVERNANCE && bypassesGovernance),
        ResultCode.OBJECT_LOCKED);
  }

  private static boolean isRetained(ApplyContext context, ObjectLock lock) {
    return lock.getMode() != ObjectLock.Mode.NONE && lock.getRetainUntilMs() > nowMs(context);
  }

  /** Refuses a lock that is asked for in a bucket without locks. */
  static void requirePossible(BucketRow bucket, ObjectLock lock) {
    require(isWellFormed(lock), ResultCode.INVALID_COMMAND);
    require(
        bucket.getHasLock() || lock.equals(ObjectLock.getDefaultInstance()),
        ResultCode.INVALID_BUCKET_STATE);
  }

  static boolean isWellFormed(ObjectLock lock) {
    return lock.getMode() != ObjectLock.Mode.UNRECOGNIZED
        && (lock.getMode() == ObjectLock.Mode.NONE) == (lock.getRetainUntilMs() == 0);
  }

  static boolean isWellFormed(DefaultRetention retention) {
    return (retention.getMode() == ObjectLock.Mode.GOVERNANCE
            || retention.getMode() == ObjectLock.Mode.COMPLIANCE)
        && (retention.getDays() > 0) != (retention.getYears() > 0);
  }

  /** The lock of a version that is written now: as asked for, or else by this retention. */
  static ObjectLock ofNew(ApplyContext context, ObjectLock asked, DefaultRetention retention) {
    if (asked.getMode() != ObjectLock.Mode.NONE || retention.getMode() == ObjectLock.Mode.NONE) {
      return asked;
    }
    long until =
        Instant.ofEpochMilli(context.writtenMs())
            .atOffset(ZoneOffset.UTC)
            .plusYears(retention.getYears())
            .plusDays(retention.getDays())
            .toInstant()
            .toEpochMilli();
    return asked.toBuilder().setMode(retention.getMode()).setRetainUntilMs(until).build();
  }

  /**
   * Refuses to shorten or remove a retention that is not over, or to change its mode, unless it is
   * bypassed.
   */
  static void requireChangeable(
      ApplyContext context, ObjectLock present, ObjectLock wanted, boolean bypassesGovernance) {
    boolean isMode =
        context.version() >= MetadataVersion.KEEPS_MODES_OF_LOCKS
            ? wanted.getMode() == present.getMode()
            : wanted.getMode() != ObjectLock.Mode.NONE
                && wanted.getMode().getNumber() >= present.getMode().getNumber();
    boolean isExtended = isMode && wanted.getRetainUntilMs() >= present.getRetainUntilMs();
    boolean isBypassed = present.getMode() == ObjectLock.Mode.GOVERNANCE && bypassesGovernance;
    require(!isRetained(context, present) || isExtended || isBypassed, ResultCode.OBJECT_LOCKED);
  }
}
