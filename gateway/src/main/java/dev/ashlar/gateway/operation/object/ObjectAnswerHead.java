package dev.ashlar.gateway.operation.object;

import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.AmzHeaderNames;
import dev.ashlar.gateway.operation.shared.Answers;
import dev.ashlar.gateway.s3.Etags;
import dev.ashlar.gateway.s3.S3Dates;
import dev.ashlar.gateway.s3.S3Request.ReadOptions;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.message.ChecksumValue;
import dev.ashlar.protocol.message.ObjectRecord;
import dev.ashlar.protocol.message.ObjectSummary;
import dev.ashlar.protocol.message.PartSummary;
import io.netty.handler.codec.http.HttpHeaders;

/**
 * Status, headers and range of an answer to GetObject or HeadObject, after the conditions.
 *
 * @param status 200, 206 or 304
 * @param range of the object; empty for 304
 */
record ObjectAnswerHead(int status, HttpHeaders headers, ByteRange range) {
  private static final ByteRange NOTHING = new ByteRange(0, 0);

  static ObjectAnswerHead of(ObjectRecord object, ReadOptions options) throws S3Exception {
    ObjectSummary summary = object.getSummary();
    HttpHeaders headers = Answers.headers();
    headers.set("Last-Modified", S3Dates.http(summary.getLastModifiedMs()));
    headers.set("ETag", Etags.quote(summary.getEtag()));
    switch (options.conditions().judge(summary.getEtag(), summary.getLastModifiedMs())) {
      case FAILED -> throw new S3Exception(S3Error.PRECONDITION_FAILED);
      case NOT_MODIFIED -> {
        addStored(headers, object, options);
        headers.remove("content-type");
        return new ObjectAnswerHead(304, headers, NOTHING);
      }
      case PASS -> {
        // Goes on below.
      }
    }
    Selection selection = Selection.of(object, options);
    headers.set("Accept-Ranges", "bytes");
    addStored(headers, object, options);
    object
        .getAttributes()
        .getUserMetadataMap()
        .forEach((name, value) -> headers.add("x-amz-meta-" + name, value));
    if (!summary.getStorageClass().isEmpty()) {
      headers.set(AmzHeaderNames.STORAGE_CLASS, summary.getStorageClass());
    }
    if (options.partNumber() > 0 && summary.getPartCount() > 0) {
      headers.set("x-amz-mp-parts-count", Integer.toString(summary.getPartCount()));
    }
    if (options.checksum()) {
      Answers.addChecksum(headers, selection.checksum, true);
    }
    if (!selection.isPartial) {
      return new ObjectAnswerHead(200, headers, selection.range);
    }
    ByteRange range = selection.range;
    headers.set(
        "Content-Range",
        "bytes " + range.offset() + "-" + (range.end() - 1) + "/" + summary.getSize());
    return new ObjectAnswerHead(206, headers, range);
  }

  private static void addStored(HttpHeaders headers, ObjectRecord object, ReadOptions options) {
    object.getAttributes().getHeadersMap().forEach(headers::set);
    options.overrides().forEach(headers::set);
  }

  /**
   * The bytes that a request selects.
   *
   * @param checksum of exactly these bytes; none for a range, which has none
   */
  private record Selection(ByteRange range, boolean isPartial, ChecksumValue checksum) {
    static Selection of(ObjectRecord object, ReadOptions options) throws S3Exception {
      long size = object.getSummary().getSize();
      if (options.partNumber() > 0) {
        return part(object, options.partNumber());
      }
      if (options.range() != null) {
        return new Selection(
            options.range().resolve(size), true, ChecksumValue.getDefaultInstance());
      }
      return whole(object);
    }

    private static Selection whole(ObjectRecord object) {
      ObjectSummary summary = object.getSummary();
      return new Selection(new ByteRange(0, summary.getSize()), false, summary.getChecksum());
    }

    private static Selection part(ObjectRecord object, int number) throws S3Exception {
      long size = object.getSummary().getSize();
      if (object.getPartsCount() == 0) {
        if (number != 1) {
          throw noSuchPart(number, 1);
        }
        return size == 0
            ? whole(object)
            : new Selection(new ByteRange(0, size), true, object.getSummary().getChecksum());
      }
      long offset = 0;
      for (PartSummary part : object.getPartsList()) {
        if (part.getNumber() == number) {
          // The type tells how the object's checksum was made, also where it is a part's.
          ChecksumValue checksum =
              part.getChecksum().toBuilder()
                  .setType(object.getSummary().getChecksum().getType())
                  .build();
          return new Selection(new ByteRange(offset, part.getSize()), part.getSize() > 0, checksum);
        }
        offset += part.getSize();
      }
      throw noSuchPart(number, object.getPartsCount());
    }

    private static S3Exception noSuchPart(int number, int count) {
      return new S3Exception(S3Error.INVALID_PART_NUMBER)
          .with("PartNumberRequested", number)
          .with("ActualPartCount", count);
    }
  }
}
