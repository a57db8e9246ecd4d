package dev.ashlar.importer;

import java.io.IOException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.s3.model.BucketVersioningStatus;
import software.amazon.awssdk.services.s3.model.GetBucketEncryptionResponse;
import software.amazon.awssdk.services.s3.model.ObjectLockConfiguration;
import software.amazon.awssdk.services.s3.model.ObjectLockEnabled;
import software.amazon.awssdk.services.s3.model.ObjectLockRule;
import software.amazon.awssdk.services.s3.model.S3Exception;
import software.amazon.awssdk.services.s3.model.ServerSideEncryption;
import software.amazon.awssdk.services.s3.model.ServerSideEncryptionRule;

/** A bucket of both sides: what has to be set before its objects come, and what behind them. */
final class BucketSettings {
  private static final int NOT_FOUND = 404;
  private static final int CONFLICT = 409;
  private static final int SERVER_ERROR = 500;

  private final Side source;
  private final Side target;
  private final String bucket;
  private final @Nullable BucketVersioningStatus versioning;
  private final @Nullable ObjectLockConfiguration lock;
  private final SettingsRule rule;
  private boolean hasTargetVersions;
  private boolean isRetaining;
  private @Nullable BucketVersioningStatus found;

  private BucketSettings(
      Side source,
      Side target,
      String bucket,
      SettingsRule rule,
      @Nullable BucketVersioningStatus versioning,
      @Nullable ObjectLockConfiguration lock) {
    this.source = source;
    this.target = target;
    this.bucket = bucket;
    this.rule = rule;
    this.versioning = versioning;
    this.lock = lock;
  }

  static BucketSettings read(Side source, Side target, String bucket, SettingsRule rule) {
    return new BucketSettings(
        source,
        target,
        bucket,
        rule,
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

  /**
   * Whether the target's bucket retains what comes without a retention. Known after {@link
   * #prepare}.
   */
  boolean isRetaining() {
    return isRetaining;
  }

  boolean isLocking() {
    return lock != null && lock.objectLockEnabled() == ObjectLockEnabled.ENABLED;
  }

  /**
   * Makes the bucket, with versions if the source has them.
   *
   * @throws IOException if the bucket cannot take the versions of the source as it is
   */
  void prepare() throws IOException {
    try {
      target.s3().headBucket(r -> r.bucket(bucket));
    } catch (S3Exception e) {
      if (e.statusCode() != NOT_FOUND) {
        throw e;
      }
      create();
      rule.made(bucket);
    }
    found = target.s3().getBucketVersioning(r -> r.bucket(bucket)).status();
    hasTargetVersions = found != null || versioning != null;
    // While versions are suspended, older ones cannot be written.
    if (versioning != null && found != BucketVersioningStatus.ENABLED) {
      if (!rule.mayAdd(bucket)) {
        throw new IOException(
            "the target's bucket does not keep versions, which the source does: enable them");
      }
      setVersioning(BucketVersioningStatus.ENABLED);
    }
    prepareLock();
    prepareEncryption();
  }

  /**
   * SSE-S3 as the default of the source becomes that of the target, before the objects come. With
   * another default their ETags would be others, so that it is only named at the end.
   */
  private void prepareEncryption() {
    try {
      if (isEncrypting(source) && !isEncrypting(target) && rule.mayAdd(bucket)) {
        target
            .s3()
            .putBucketEncryption(
                r ->
                    r.bucket(bucket)
                        .serverSideEncryptionConfiguration(
                            c ->
                                c.rules(
                                    ServerSideEncryptionRule.builder()
                                        .applyServerSideEncryptionByDefault(
                                            d -> d.sseAlgorithm(ServerSideEncryption.AES256))
                                        .build())));
      }
    } catch (S3Exception e) {
      if (e.statusCode() >= SERVER_ERROR && !isUnknown(e)) {
        throw e;
      }
    }
  }

  /** Whether new objects of the bucket get SSE-S3 by themselves. */
  private boolean isEncrypting(Side side) {
    GetBucketEncryptionResponse answer =
        orNull(() -> side.s3().getBucketEncryption(r -> r.bucket(bucket)));
    return answer != null
        && answer.serverSideEncryptionConfiguration().rules().stream()
            .map(ServerSideEncryptionRule::applyServerSideEncryptionByDefault)
            .anyMatch(d -> d != null && d.sseAlgorithm() == ServerSideEncryption.AES256);
  }

  /** A default retention would lock copies of what the source does not retain, maybe for years. */
  private void prepareLock() {
    ObjectLockConfiguration present = lockOf(target);
    boolean isTargetLocking =
        present != null && present.objectLockEnabled() == ObjectLockEnabled.ENABLED;
    boolean hasDefault = present != null && present.rule() != null;
    if (hasDefault && rule.mayReplaceWriting(bucket)) {
      putLock(null);
    } else {
      isRetaining = hasDefault;
    }
    if (isLocking() && !isTargetLocking && rule.mayAdd(bucket)) {
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

  /**
   * Sets what would be in the way of the objects.
   *
   * @param isComplete whether all objects are there; else those of the next pass would get the
   *     default retention
   */
  void finish(boolean isComplete) {
    finishVersioning();
    ObjectLockRule wanted = lock == null ? null : lock.rule();
    if (wanted == null || !isComplete || !rule.mayAdd(bucket)) {
      return;
    }
    ObjectLockRule present = defaultRule();
    if (present == null) {
      putLock(wanted);
    } else if (!wanted.equals(present)) {
      rule.differs(bucket, "the default retention");
    }
  }

  private void finishVersioning() {
    if (isLocking()) {
      return; // versions cannot be suspended
    }
    boolean wasSuspended = found == BucketVersioningStatus.SUSPENDED;
    boolean isSuspended = versioning == BucketVersioningStatus.SUSPENDED;
    if (rule.mayReplaceWriting(bucket) ? isSuspended : wasSuspended && versioning != null) {
      setVersioning(BucketVersioningStatus.SUSPENDED);
    }
    if (!rule.mayReplaceWriting(bucket) && versioning != null && wasSuspended != isSuspended) {
      rule.differs(bucket, "versioning");
    }
  }

  private void setVersioning(BucketVersioningStatus status) {
    target
        .s3()
        .putBucketVersioning(r -> r.bucket(bucket).versioningConfiguration(c -> c.status(status)));
  }

  private @Nullable ObjectLockRule defaultRule() {
    ObjectLockConfiguration present = lockOf(target);
    return present == null ? null : present.rule();
  }

  private @Nullable ObjectLockConfiguration lockOf(Side side) {
    return orNull(
        () ->
            side.s3().getObjectLockConfiguration(r -> r.bucket(bucket)).objectLockConfiguration());
  }

  private void putLock(@Nullable ObjectLockRule retention) {
    target
        .s3()
        .putObjectLockConfiguration(
            r ->
                r.bucket(bucket)
                    .objectLockConfiguration(
                        c -> c.objectLockEnabled(ObjectLockEnabled.ENABLED).rule(retention)));
  }
}
