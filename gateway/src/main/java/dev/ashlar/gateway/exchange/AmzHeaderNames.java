package dev.ashlar.gateway.exchange;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.util.AsciiString;
import java.util.Set;

/**
 * Names of Amazon's headers that most requests are asked for, beside {@link HttpHeaderNames}. They
 * keep their hash, which a look-up by a string computes each time.
 */
public final class AmzHeaderNames {
  public static final AsciiString CHECKSUM_MODE = AsciiString.cached("x-amz-checksum-mode");
  public static final AsciiString CONTENT_SHA256 = AsciiString.cached("x-amz-content-sha256");
  public static final AsciiString COPY_SOURCE = AsciiString.cached("x-amz-copy-source");
  public static final AsciiString DATE = AsciiString.cached("x-amz-date");
  public static final AsciiString DECODED_CONTENT_LENGTH =
      AsciiString.cached("x-amz-decoded-content-length");
  public static final AsciiString EXPECTED_BUCKET_OWNER =
      AsciiString.cached("x-amz-expected-bucket-owner");
  public static final AsciiString SDK_CHECKSUM_ALGORITHM =
      AsciiString.cached("x-amz-sdk-checksum-algorithm");
  public static final AsciiString SECURITY_TOKEN = AsciiString.cached("x-amz-security-token");
  public static final AsciiString STORAGE_CLASS = AsciiString.cached("x-amz-storage-class");
  public static final AsciiString TRAILER = AsciiString.cached("x-amz-trailer");
  public static final AsciiString WRITE_OFFSET = AsciiString.cached("x-amz-write-offset-bytes");

  private static final String PREFIX = "x-amz-";

  /** How names of S3's headers go on behind the prefix, in requests and in answers. */
  private static final Set<String> FIRST_WORDS =
      Set.of(
          ("abort access acl algorithm annotation api archive bucket bypass cf checksum client"
                  + " confirm content copy create credential date decoded delete event expected"
                  + " expiration expires fwd grant id if intelligent inventory lock max meta"
                  + " metadata mfa missing mp object optional owner part permission policy public"
                  + " region rename replication request requester restore retain retention s3session sdk"
                  + " security select server session signature signedheaders skip snapshot source"
                  + " sse storage tag tagging te tier trailer transition user version website"
                  + " write")
              .split(" ", -1));

  private AmzHeaderNames() {}

  /**
   * Whether a header is, or may become, one of S3: those change what a request means. Others with
   * the prefix are somebody else's, and mean nothing.
   *
   * @param name in lower case
   */
  public static boolean mayBeOfS3(String name) {
    if (!name.startsWith(PREFIX)) {
      return false;
    }
    int end = name.indexOf('-', PREFIX.length());
    return FIRST_WORDS.contains(
        end < 0 ? name.substring(PREFIX.length()) : name.substring(PREFIX.length(), end));
  }
}
