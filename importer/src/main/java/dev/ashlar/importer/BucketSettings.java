package dev.ashlar.importer;

import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.s3.model.BucketVersioningStatus;
import software.amazon.awssdk.services.s3.model.ObjectLockConfiguration;
import software.amazon.awssdk.services.s3.model.ObjectLockEnabled;
import software.amazon.awssdk.services.s3.model.ObjectLockRule;
import software.amazon.awssdk.services.s3.model.S3Exception;

/** A bucket of both sides: what has to be set before its objects come, and what behind them. */
final class BucketSettings {
  private static final int NOT_FOUND = 404;
  private static final int CONFLICT = 409;

  private final Side target;
  private final String bucket;
  private final @Nullable BucketVersioningStatus versioning;
  private final @Nullable ObjectLockConfiguration lock;
  private boolean hasTargetVersions;

  private BucketSettings(
      Side target,
      String bucket,
      @Nullable BucketVersioningStatus versioning,
      @Nullable ObjectLockConfiguration lock) {
    this.target = target;
    this.bucket = bucket;
    this.versioning = versioning;
    this.lock = lock;
  }

  static BucketSettings read(Side source, Side target, String bucket) {
    return new BucketSettings(
        target,
        bucket,
        source.s3().getBucketVersioning(r -> r.bucket(bucket)).status(),
        orNull(
            () ->
                source
                    .s3()
                    .getObjectLockConfiguration(r -> r.bucket(bucket))
                    .objectLockConfiguration()));
  }

  /** Null where the answer is that there is no such setting, or no such feature. */
  static <T> @Nullable T orNull(Supplier<T> read) {
    try {
      return read.get();
    } catch (S3Exception e) {
      if (e.statusCode() == NOT_FOUND || isUnknown(e)) {
        return null;
      }
      throw e;
    }
  }

  static boolean isUnknown(S3Exception answer) {
    String code = answer.awsErrorDetails() == null ? "" : answer.awsErrorDetails().errorCode();
    return "NotImplemented".equals(code) || "MethodNotAllowed".equals(code);
  }

  String bucket() {
    return bucket;
  }

  boolean hasSourceVersions() {
    return versioning != null;
  }

  /** Known after {@link #prepare}. */
  boolean hasTargetVersions() {
    return hasTargetVersions;
  }

  private boolean isLocking() {
    return lock != null && lock.objectLockEnabled() == ObjectLockEnabled.ENABLED;
  }

  /** Makes the bucket, with versions if the source has them. */
  void prepare() {
    try {
      target.s3().headBucket(r -> r.bucket(bucket));
    } catch (S3Exception e) {
      if (e.statusCode() != NOT_FOUND) {
        throw e;
      }
      create();
    }
    BucketVersioningStatus present =
        target.s3().getBucketVersioning(r -> r.bucket(bucket)).status();
    // While versions are suspended, older ones cannot be written.
    if (versioning != null && present != BucketVersioningStatus.ENABLED) {
      setVersioning(BucketVersioningStatus.ENABLED);
      present = BucketVersioningStatus.ENABLED;
    }
    hasTargetVersions = present != null;
    if (isLocking() && defaultRule(target) == null && !isLocking(target)) {
      putLock(null);
    }
  }

  private void create() {
    try {
      target
          .s3()
          .createBucket(
              r -> r.bucket(bucket).objectLockEnabledForBucket(isLocking() ? true : null));
    } catch (S3Exception e) {
      if (e.statusCode() != CONFLICT) {
        throw e;
      }
      target.s3().headBucket(r -> r.bucket(bucket)); // a retry finds what the first try has made
    }
  }

  /** Sets what would be in the way of the objects. */
  void finish() {
    if (versioning == BucketVersioningStatus.SUSPENDED && !isLocking()) {
      setVersioning(BucketVersioningStatus.SUSPENDED);
    }
    ObjectLockRule rule = lock == null ? null : lock.rule();
    if (rule != null && !rule.equals(defaultRule(target))) {
      putLock(rule);
    }
  }

  private void setVersioning(BucketVersioningStatus status) {
    target
        .s3()
        .putBucketVersioning(r -> r.bucket(bucket).versioningConfiguration(c -> c.status(status)));
  }

  private @Nullable ObjectLockRule defaultRule(Side side) {
    ObjectLockConfiguration found = lockOf(side);
    return found == null ? null : found.rule();
  }

  private boolean isLocking(Side side) {
    ObjectLockConfiguration found = lockOf(side);
    return found != null && found.objectLockEnabled() == ObjectLockEnabled.ENABLED;
  }

  private @Nullable ObjectLockConfiguration lockOf(Side side) {
    return orNull(
        () ->
            side.s3().getObjectLockConfiguration(r -> r.bucket(bucket)).objectLockConfiguration());
  }

  private void putLock(@Nullable ObjectLockRule rule) {
    target
        .s3()
        .putObjectLockConfiguration(
            r ->
                r.bucket(bucket)
                    .objectLockConfiguration(
                        c -> c.objectLockEnabled(ObjectLockEnabled.ENABLED).rule(rule)));
  }

  @Override
  public String toString() {
    return Objects.toString(bucket);
  }
}
