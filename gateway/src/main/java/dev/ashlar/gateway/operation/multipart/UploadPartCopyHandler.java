package dev.ashlar.gateway.operation.multipart;

import dev.ashlar.gateway.access.Caller;
import dev.ashlar.gateway.checksum.Digests;
import dev.ashlar.gateway.encryption.EncryptionHeaders;
import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpAnswer;
import dev.ashlar.gateway.operation.shared.Answers;
import dev.ashlar.gateway.operation.shared.Backend;
import dev.ashlar.gateway.operation.shared.CopySources;
import dev.ashlar.gateway.operation.shared.CopySources.Attempt;
import dev.ashlar.gateway.operation.shared.NewKey;
import dev.ashlar.gateway.operation.shared.ObjectContent;
import dev.ashlar.gateway.operation.shared.Reencoding;
import dev.ashlar.gateway.operation.shared.StorageClass;
import dev.ashlar.gateway.s3.Etags;
import dev.ashlar.gateway.s3.S3Dates;
import dev.ashlar.gateway.s3.S3Request;
import dev.ashlar.gateway.s3.SizeLimits;
import dev.ashlar.gateway.xml.XmlWriter;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.UnavailableException;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.message.ChecksumType;
import dev.ashlar.protocol.message.ChecksumValue;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CopyPart;
import dev.ashlar.protocol.message.EncryptedRun;
import dev.ashlar.protocol.message.ObjectRecord;
import dev.ashlar.protocol.message.ObjectSummary;
import dev.ashlar.protocol.message.PartRow;
import dev.ashlar.protocol.message.PutPart;
import dev.ashlar.protocol.message.UploadRow;
import io.netty.handler.codec.http.HttpHeaders;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * Makes a part from a range of an object. The part refers to its blobs, so no data moves. It gets
 * new blobs only where the storage class of the upload means another profile than they have, and
 * where one of the two is encrypted: an upload has a key of its own.
 */
public record UploadPartCopyHandler(Backend backend) {

  public HttpAnswer handle(S3Request.UploadPartCopy request, Caller caller)
      throws S3Exception, UnavailableException, InterruptedException {
    UploadRow upload = Uploads.require(backend, request);
    StorageClass storageClass = StorageClass.of(backend, upload);
    NewKey key = Uploads.key(backend, upload, request.customer());
    CopySources.Copied<PartRow> copied =
        new CopySources(backend, caller)
            .copy(
                request.source(),
                from -> {
                  ObjectRecord source = from.object().object();
                  ObjectContent content =
                      ObjectContent.ofSource(backend, request.source(), from.object());
                  boolean isPlain = key == null && content.key() == null;
                  return isPlain && storageClass.hasProfileOf(source.getSlicesList())
                      ? share(request, source, upload)
                      : reencode(request, content, new Target(upload, storageClass, key));
                });
    PartRow part = copied.copy();
    XmlWriter xml = new XmlWriter().openRoot("CopyPartResult");
    xml.element("LastModified", S3Dates.xml(copied.result().getLastModifiedMs()));
    xml.element("ETag", Etags.quote(part.getEtag()));
    Answers.writeChecksum(xml, part.getChecksum(), false);
    HttpHeaders headers = Answers.headers();
    copied.addSource(headers);
    EncryptionHeaders.add(headers, upload.getFacts(), request.customer());
    return Answers.xml(xml.close().toBytes(), headers);
  }

  /**
   * Where the part belongs.
   *
   * @param key null: it is not encrypted
   */
  private record Target(UploadRow upload, StorageClass storageClass, @Nullable NewKey key) {}

  private static ByteRange range(S3Request.UploadPartCopy request, ObjectSummary source)
      throws S3Exception {
    ByteRange range =
        request.range() == null ? new ByteRange(0, source.getSize()) : request.range();
    if (range.end() > source.getSize()) {
      throw new S3Exception(
              S3Error.INVALID_COPY_RANGE,
              "Range specified is not valid for source object of size: " + source.getSize())
          .with("ArgumentName", "x-amz-copy-source-range")
          .with("ArgumentValue", "bytes=" + range.offset() + "-" + (range.end() - 1));
    }
    SizeLimits.requireCopyable(range.length());
    return range;
  }

  private static PartRow part(
      S3Request.UploadPartCopy request, ObjectRecord source, UploadRow upload) throws S3Exception {
    ObjectSummary summary = source.getSummary();
    ByteRange range = range(request, summary);
    boolean isWhole = range.length() == summary.getSize();
    PartRow.Builder part =
        PartRow.newBuilder().setNumber(request.partNumber()).setSize(range.length());
    part.setEtag(
        isWhole && PartList.isMd5(summary.getEtag()) ? summary.getEtag() : etag(source, range));
    ChecksumValue checksum = summary.getChecksum();
    boolean isUseful =
        isWhole
            && checksum.getType() == ChecksumType.CHECKSUM_FULL_OBJECT
            && checksum.getAlgorithm() == MultipartChecksum.algorithm(upload);
    return isUseful ? part.setChecksum(checksum).build() : part.build();
  }

  /**
   * An ETag for bytes that are not read here: 32 digits like an MD5, derived from the source's ETag
   * and version and the range.
   */
  private static String etag(ObjectRecord source, ByteRange range) {
    MessageDigest md5 = Digests.md5();
    String name =
        source.getSummary().getEtag()
            + ':'
            + Long.toHexString(source.getVersion())
            + ':'
            + range.offset()
            + ':'
            + range.length();
    return HexFormat.of().formatHex(md5.digest(name.getBytes(StandardCharsets.UTF_8)));
  }

  /** Makes a part that refers to the blobs of its source. */
  private Attempt<PartRow> share(
      S3Request.UploadPartCopy request, ObjectRecord source, UploadRow upload)
      throws S3Exception, MetadataUnavailableException {
    PartRow part = part(request, source, upload);
    ByteRange range = range(request, source.getSummary());
    CopyPart command =
        CopyPart.newBuilder()
            .setBucket(request.bucket())
            .setKey(request.key())
            .setUploadId(request.uploadId())
            .setPart(part)
            .setSourceBucket(request.source().bucket())
            .setSourceKey(request.source().key())
            .setSourceVersion(source.getVersion())
            .setSourceMoved(source.getMoved())
            .setSourceOffset(range.offset())
            .setSourceLength(range.length())
            .build();
    return new Attempt<>(
        backend.metadata().submit(Command.newBuilder().setCopyPart(command)), part);
  }

  /** Makes a part with blobs of its own, and the ETag and checksum of an uploaded one. */
  private Attempt<PartRow> reencode(
      S3Request.UploadPartCopy request, ObjectContent source, Target target)
      throws S3Exception, UnavailableException, InterruptedException {
    ByteRange range = range(request, source.object().object().getSummary());
    Reencoding.Ended ended =
        new Reencoding(
                source,
                range,
                target.storageClass.profile(),
                MultipartChecksum.algorithm(target.upload),
                target.key)
            .run(
                backend,
                (written, blobs) ->
                    Command.newBuilder()
                        .setPutPart(
                            PutPart.newBuilder()
                                .setBucket(request.bucket())
                                .setKey(request.key())
                                .setUploadId(request.uploadId())
                                .setPart(part(request, range, written))
                                .addAllBlobs(blobs)));
    return new Attempt<>(ended.result(), part(request, range, ended.written()));
  }

  private static PartRow part(
      S3Request.UploadPartCopy request, ByteRange range, Reencoding.Written written) {
    PartRow.Builder part =
        PartRow.newBuilder()
            .setNumber(request.partNumber())
            .setSize(range.length())
            .setEtag(written.etag())
            .setChecksum(written.checksum());
    EncryptedRun run = written.run();
    return run == null ? part.build() : part.setRun(run).build();
  }
}
