package dev.ashlar.gateway.operation.shared;

import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.protocol.message.BucketRow;
import dev.ashlar.protocol.message.ObjectLock;
import java.time.Clock;

/** What a lock must be before it is given to a version. */
public final class LockRules {
  private LockRules() {}

  /** Refuses a lock in a bucket without object lock. */
  public static void requirePossible(BucketRow bucket) throws S3Exception {
    if (!bucket.getHasLock()) {
      throw missingConfiguration();
    }
  }

  public static S3Exception missingConfiguration() {
    return S3Exception.invalidRequest("Bucket is missing Object Lock Configuration");
  }

  /** Refuses a retention that is over already. */
  public static void requireFuture(ObjectLock lock, Clock clock) throws S3Exception {
    boolean isRetained = lock.getMode() != ObjectLock.Mode.NONE;
    if (isRetained && lock.getRetainUntilMs() <= clock.millis()) {
      throw S3Exception.invalidArgument(
          "The retain until date must be in the future!",
          "x-amz-object-lock-retain-until-date",
          Long.toString(lock.getRetainUntilMs()));
    }
  }
}
