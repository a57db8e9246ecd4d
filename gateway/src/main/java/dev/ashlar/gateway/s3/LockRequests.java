package dev.ashlar.gateway.s3;

import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.uri.Query;
import dev.ashlar.protocol.message.VersionRef;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;

/** Chooses among the requests about object lock. */
public final class LockRequests {
  static final String BYPASS = "x-amz-bypass-governance-retention";
  static final String LOCK_BUCKET = "x-amz-bucket-object-lock-enabled";

  private static final AsciiString BYPASS_NAME = AsciiString.cached(BYPASS);
  private static final AsciiString LOCK_BUCKET_NAME = AsciiString.cached(LOCK_BUCKET);

  private LockRequests() {}

  /** Null for a request about something else. */
  static @Nullable S3Request of(
      String method,
      String bucket,
      @Nullable String key,
      @Nullable VersionRef version,
      Query query,
      HttpHeaders headers)
      throws S3Exception {
    boolean isPut = method.equals("PUT");
    if (key == null) {
      return !query.has("object-lock")
          ? null
          : isPut
              ? new S3Request.PutObjectLockConfiguration(bucket)
              : new S3Request.GetObjectLockConfiguration(bucket);
    }
    if (query.has("retention")) {
      return isPut
          ? new S3Request.PutObjectRetention(bucket, key, version, asksForBypass(headers))
          : new S3Request.GetObjectRetention(bucket, key, version);
    }
    if (query.has("legal-hold")) {
      return isPut
          ? new S3Request.PutObjectLegalHold(bucket, key, version)
          : new S3Request.GetObjectLegalHold(bucket, key, version);
    }
    return null;
  }

  /** What S3 answers where there is nothing to bypass. */
  static S3Exception bypassWithoutLock() {
    return S3Exception.invalidArgument(
        BYPASS + " is only applicable to Object Lock enabled buckets.", BYPASS, "true");
  }

  /** Whether the request asks to delete or change what governance retains. */
  static boolean asksForBypass(HttpHeaders headers) throws S3Exception {
    return isTrue(headers, BYPASS_NAME);
  }

  /** Whether the request asks for a bucket with object lock. */
  static boolean asksForLock(HttpHeaders headers) throws S3Exception {
    return isTrue(headers, LOCK_BUCKET_NAME);
  }

  /**
   * @throws S3Exception InvalidArgument for another value than true or false
   */
  private static boolean isTrue(HttpHeaders headers, AsciiString name) throws S3Exception {
    String value = headers.get(name, "false").trim();
    if (!value.equalsIgnoreCase("true") && !value.equalsIgnoreCase("false")) {
      throw S3Exception.invalidArgument(
          "The value is neither true nor false", name.toString(), value);
    }
    return value.equalsIgnoreCase("true");
  }
}
