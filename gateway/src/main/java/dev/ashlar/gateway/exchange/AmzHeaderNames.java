package dev.ashlar.gateway.exchange;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.util.AsciiString;

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

  private AmzHeaderNames() {}
}
