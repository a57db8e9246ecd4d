package dev.ashlar.gateway.s3;

import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.version.VersionId;

/**
 * As which service Ashlar answers where Amazon S3 and Ceph's radosgw differ. Each method is one
 * difference, but for the codes of errors, which are a table. None of them gives a requester a
 * right; policies that permit log delivery have to name another {@code aws:SourceAccount}.
 */
public enum AnswerStyle {
  /** As Amazon S3 documents it, or is measured to do. */
  S3,

  /** As radosgw does, for clients that were written for it. */
  RADOSGW;

  /**
   * The error that the client is told in place of one of S3. The message stays.
   *
   * @param request that failed; only its kind matters
   */
  public S3Exception told(S3Exception failure, S3Request request) {
    S3Exception told = told(failure);
    boolean isRead =
        request instanceof S3Request.GetObject || request instanceof S3Request.HeadObject;
    return this == RADOSGW && isRead && told.error() == S3Error.NO_SUCH_KEY
        ? withDeleteMarker(told)
        : told;
  }

  /** The same for a request that is not understood, or whose kind does not matter. */
  public S3Exception told(S3Exception failure) {
    S3Error told = error(failure.error());
    return told == failure.error() ? failure : failure.as(told);
  }

  private S3Error error(S3Error s3) {
    if (this == S3) {
      return s3;
    }
    return switch (s3) {
      // S3: 416 for a part of an object that is not there.
      case INVALID_PART_NUMBER -> S3Error.INVALID_PART;
      // S3: InvalidRequest for a checksum that is none of its algorithm.
      case MALFORMED_CHECKSUM -> S3Error.BAD_DIGEST;
      // S3: 400 for a lifetime of a presigned URL that is negative or longer than a week.
      case INVALID_URL_LIFETIME -> S3Error.ACCESS_DENIED;
      // S3: InvalidArgument for a range to copy that ends behind the source.
      case INVALID_COPY_RANGE -> S3Error.INVALID_RANGE;
      // S3: NotImplemented since torrents are retired. radosgw: there is none of this object.
      case TORRENTS_RETIRED -> S3Error.NO_SUCH_KEY;
      // S3: one code for all that is wrong with a bucket which logs are to go to.
      case MISSING_TARGET_BUCKET_FOR_LOGGING -> S3Error.NO_SUCH_KEY;
      case CLOSED_TARGET_BUCKET_FOR_LOGGING -> S3Error.ACCESS_DENIED;
      case INVALID_TARGET_BUCKET_FOR_LOGGING -> S3Error.INVALID_ARGUMENT;
      default -> s3;
    };
  }

  /**
   * S3 has the header only where a delete marker is. radosgw says {@code false} where none is, to
   * those who may learn that there is no object.
   */
  private static S3Exception withDeleteMarker(S3Exception missing) {
    return missing.headers().containsKey(VersionId.DELETE_MARKER_HEADER)
        ? missing
        : missing.withHeader(VersionId.DELETE_MARKER_HEADER, "false");
  }

  /**
   * The bucket that a path or a source of a copy names. S3: no name has a colon. radosgw: {@code
   * tenant:bucket} and {@code :bucket} are buckets of a tenant and of none; here names are unique
   * in the whole store, so what stands before the colon is not looked at.
   */
  String bucket(String named) {
    return this == RADOSGW ? named.substring(named.indexOf(':') + 1) : named;
  }

  /**
   * GetBucketPolicyStatus. S3: about the policy only, NoSuchBucketPolicy without one. radosgw:
   * whether the bucket is public by its policy or its ACL.
   */
  public boolean policyStatusHasAcl() {
    return this == RADOSGW;
  }

  /**
   * GetObjectAttributes of a multipart object with a checksum of its parts' checksums. S3: the
   * checksum alone. radosgw: with a hyphen and the number of parts, as in headers.
   */
  public boolean attributesHavePartCount() {
    return this == RADOSGW;
  }

  /**
   * CompleteMultipartUpload of an upload with SSE-C. S3: has to bring the key only if the object
   * gets a checksum. radosgw: always.
   */
  public boolean completionNeedsCustomerKey() {
    return this == RADOSGW;
  }

  /**
   * A request with {@code aws:kms}, and no id of a key in it or in the default of its bucket. S3:
   * means the key of the account's own; here the server's default key. radosgw: refuses it.
   */
  public boolean kmsNeedsKeyId() {
    return this == RADOSGW;
  }

  /**
   * {@code aws:SourceAccount} in policies that let access logs in. S3: the id of the account that
   * owns the logged bucket. radosgw: the canonical id of the same owner.
   */
  public boolean sourceAccountIsCanonical() {
    return this == RADOSGW;
  }

  /**
   * The logging of a bucket. S3: grants rights on logs (TargetGrants), returns a format of keys
   * only if it was put, and lets logs go to the bucket itself, to one that is logged, and to one
   * with encryption by default. radosgw: ignores grants, always returns a format, and refuses such
   * targets.
   */
  public boolean loggingIsPlain() {
    return this == RADOSGW;
  }
}
