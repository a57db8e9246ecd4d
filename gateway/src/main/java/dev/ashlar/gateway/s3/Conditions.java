package dev.ashlar.gateway.s3;

import io.netty.handler.codec.http.HttpHeaders;
import org.jspecify.annotations.Nullable;

/**
 * Conditions of a read on the stored object.
 *
 * @param ifMatch as sent, may be a list
 * @param ifModifiedSince seconds since 1970, or -1
 */
public record Conditions(
    @Nullable String ifMatch,
    @Nullable String ifNoneMatch,
    long ifModifiedSince,
    long ifUnmodifiedSince) {
  /** The outcome of the conditions for an object. */
  public enum Verdict {
    PASS,
    NOT_MODIFIED,
    FAILED
  }

  /** Of the headers If-Match and so on, or x-amz-copy-source-if-match and so on. */
  public static Conditions of(HttpHeaders headers, String prefix) {
    String ifMatch = headers.get(prefix + "if-match");
    String ifNoneMatch = headers.get(prefix + "if-none-match");
    long modified = date(headers.get(prefix + "if-modified-since"));
    long unmodified = date(headers.get(prefix + "if-unmodified-since"));
    return new Conditions(ifMatch, ifNoneMatch, modified, unmodified);
  }

  private static long date(@Nullable String header) {
    return header == null ? -1 : S3Dates.parseHttp(header);
  }

  /** S3's precedence: an ETag condition overrules the date condition of its kind. */
  public Verdict judge(String etag, long lastModifiedMillis) {
    long lastModified = lastModifiedMillis / 1000;
    if (ifMatch != null) {
      if (!Etags.matches(ifMatch, etag)) {
        return Verdict.FAILED;
      }
    } else if (ifUnmodifiedSince >= 0 && lastModified > ifUnmodifiedSince) {
      return Verdict.FAILED;
    }
    if (ifNoneMatch != null) {
      return Etags.matches(ifNoneMatch, etag) ? Verdict.NOT_MODIFIED : Verdict.PASS;
    }
    return ifModifiedSince >= 0 && lastModified <= ifModifiedSince
        ? Verdict.NOT_MODIFIED
        : Verdict.PASS;
  }
}
