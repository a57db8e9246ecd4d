package dev.ashlar.gateway.s3;

import io.netty.handler.codec.http.HttpHeaders;
import io.netty.util.AsciiString;
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
  /** The headers that have the conditions. */
  @SuppressWarnings("ImmutableEnumChecker") // nobody writes to the arrays of the names
  enum Names {
    /** If-Match and so on. */
    PLAIN(""),
    COPY_SOURCE("x-amz-copy-source-"),
    RENAME_SOURCE("x-amz-rename-source-");

    private final AsciiString match;
    private final AsciiString noneMatch;
    private final AsciiString modified;
    private final AsciiString unmodified;

    Names(String prefix) {
      match = AsciiString.cached(prefix + "if-match");
      noneMatch = AsciiString.cached(prefix + "if-none-match");
      modified = AsciiString.cached(prefix + "if-modified-since");
      unmodified = AsciiString.cached(prefix + "if-unmodified-since");
    }
  }

  /** The outcome of the conditions for an object. */
  public enum Verdict {
    PASS,
    NOT_MODIFIED,
    FAILED
  }

  static Conditions of(HttpHeaders headers, Names names) {
    return new Conditions(
        headers.get(names.match),
        headers.get(names.noneMatch),
        date(headers.get(names.modified)),
        date(headers.get(names.unmodified)));
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
