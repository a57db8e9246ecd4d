package dev.ashlar.gateway.s3;

import dev.ashlar.gateway.checksum.Checksums;
import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.s3.S3Request.AppendDialect;
import dev.ashlar.gateway.uri.Query;
import io.netty.handler.codec.http.HttpHeaders;

/** Parses the requests that change a part of an object. */
record ChangeRequestParser(String bucket, String key, Query query, HttpHeaders headers) {
  static final String WRITE_OFFSET = "x-amz-write-offset-bytes";

  S3Request append() throws S3Exception {
    RequestHeaders.requireContentLength(headers);
    boolean isRgw = query.has("append");
    if (isRgw && headers.contains(WRITE_OFFSET)) {
      throw new S3Exception(
          S3Error.INVALID_REQUEST, "Cannot specify both a write offset and a position");
    }
    return new S3Request.AppendObject(
        bucket,
        key,
        isRgw ? AppendDialect.RGW : AppendDialect.EXPRESS,
        isRgw
            ? offset("position", query.get("position", ""))
            : offset(WRITE_OFFSET, headers.get(WRITE_OFFSET, "").trim()),
        RequestHeaders.attributes(headers),
        RequestHeaders.writeCondition(headers),
        Checksums.announced(headers));
  }

  /** Digits; what exceeds a long is behind the end of any object. */
  private static long offset(String name, String text) throws S3Exception {
    long offset = text.isEmpty() ? -1 : RangeSpec.number(text);
    if (offset < 0) {
      throw S3Exception.invalidArgument(
          "Provided " + name + " not an integer or within integer range", name, text);
    }
    return offset;
  }

  S3Request patch() throws S3Exception {
    if (headers.contains(ObjectRequestParser.COPY_SOURCE)) {
      throw S3Exception.unsupportedHeader(ObjectRequestParser.COPY_SOURCE);
    }
    RequestHeaders.requireContentLength(headers);
    PatchRange range = PatchRange.parse(headers.get("content-range"));
    if (RequestHeaders.attributes(headers).getUserMetadataCount() > 0) {
      throw new S3Exception(
          S3Error.INVALID_REQUEST, "Cannot specify user-defined object metadata for a patch.");
    }
    return new S3Request.PatchObject(
        bucket,
        key,
        range,
        RequestHeaders.writeCondition(headers),
        Conditions.of(headers, "").ifUnmodifiedSince(),
        Checksums.announced(headers));
  }
}
