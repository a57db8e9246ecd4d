package dev.ashlar.gateway.operation.multipart;

import dev.ashlar.gateway.access.AccessControl.Permit;
import dev.ashlar.gateway.checksum.ChecksumKind;
import dev.ashlar.gateway.checksum.Checksums;
import dev.ashlar.gateway.encryption.EncryptionHeaders;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpAnswer;
import dev.ashlar.gateway.operation.shared.Answers;
import dev.ashlar.gateway.operation.shared.Backend;
import dev.ashlar.gateway.operation.shared.LifecycleHeaders;
import dev.ashlar.gateway.operation.shared.NewKey;
import dev.ashlar.gateway.operation.shared.NewObjectAccess;
import dev.ashlar.gateway.operation.shared.StorageClass;
import dev.ashlar.gateway.s3.S3Request;
import dev.ashlar.gateway.xml.XmlWriter;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.ChecksumAlgorithm;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CreateUpload;
import dev.ashlar.protocol.message.ObjectFacts;
import dev.ashlar.protocol.message.UploadRow;
import io.netty.handler.codec.http.HttpHeaders;
import java.util.HexFormat;

/** Begins a multipart upload. */
public record CreateMultipartUploadHandler(Backend backend) {
  public HttpAnswer handle(S3Request.CreateMultipartUpload request, Permit permit)
      throws S3Exception, MetadataUnavailableException, InterruptedException {
    StorageClass storageClass =
        StorageClass.asked(backend, permit.bucket(), request.storageClass());
    NewObjectAccess access = NewObjectAccess.of(backend, permit, request.acl());
    String uploadId = newUploadId();
    ObjectFacts.Builder facts = access.facts(request.given().facts()).toBuilder();
    NewKey key = NewKey.chosen(backend, request.encryption(), permit.config());
    if (key != null) {
      facts.setWrappedKey(key.wrapped());
    }
    UploadRow upload =
        UploadRow.newBuilder()
            .setBucket(request.bucket())
            .setKey(request.key())
            .setUploadId(uploadId)
            .setOwner(access.owner())
            .setInitiator(permit.caller().canonicalId())
            .setStorageClass(storageClass.stored())
            .setAttributes(request.attributes())
            .setFacts(facts)
            .setLock(request.given().lock())
            .setChecksumAlgorithm(request.checksum())
            .setChecksumType(request.checksumType())
            .build();
    long nowMs = backend.clock().millis();
    backend.submit(
        Command.newBuilder().setCreateUpload(CreateUpload.newBuilder().setUpload(upload)));
    HttpHeaders headers = Answers.headers();
    if (request.checksum() != ChecksumAlgorithm.CHECKSUM_NONE) {
      headers.set("x-amz-checksum-algorithm", ChecksumKind.of(request.checksum()).name());
      headers.set("x-amz-checksum-type", Checksums.typeName(request.checksumType()));
    }
    EncryptionHeaders.addWritten(headers, upload.getFacts(), request.encryption().customer());
    LifecycleHeaders.addAbort(headers, permit, upload.toBuilder().setInitiatedAtMs(nowMs).build());
    XmlWriter xml =
        new XmlWriter()
            .openRoot("InitiateMultipartUploadResult")
            .element("Bucket", request.bucket())
            .element("Key", request.key())
            .element("UploadId", uploadId)
            .close();
    return Answers.xml(xml.toBytes(), headers);
  }

  /** Begins with the time: uploads of one key are listed in the order of their ids. */
  private String newUploadId() {
    HexFormat hex = HexFormat.of();
    return hex.toHexDigits(backend.clock().millis(), 12)
        + hex.toHexDigits(backend.random().nextLong())
        + hex.toHexDigits(backend.random().nextInt());
  }
}
