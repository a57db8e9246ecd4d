package dev.ashlar.gateway.operation.multipart;

import dev.ashlar.gateway.access.AccessControl.Permit;
import dev.ashlar.gateway.checksum.Checksums;
import dev.ashlar.gateway.encryption.EncryptionHeaders;
import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpAnswer;
import dev.ashlar.gateway.exchange.HttpExchange.RequestBody;
import dev.ashlar.gateway.operation.shared.Answers;
import dev.ashlar.gateway.operation.shared.Backend;
import dev.ashlar.gateway.operation.shared.BodyIngest;
import dev.ashlar.gateway.operation.shared.LifecycleHeaders;
import dev.ashlar.gateway.operation.shared.WriteConditions;
import dev.ashlar.gateway.s3.Etags;
import dev.ashlar.gateway.s3.S3Request;
import dev.ashlar.gateway.s3.SizeLimits;
import dev.ashlar.gateway.uri.Percent;
import dev.ashlar.gateway.version.VersionId;
import dev.ashlar.gateway.xml.XmlWriter;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.ObjectRead;
import dev.ashlar.protocol.client.VersionRead;
import dev.ashlar.protocol.client.VersionsQuery;
import dev.ashlar.protocol.message.BucketRow;
import dev.ashlar.protocol.message.ChecksumAlgorithm;
import dev.ashlar.protocol.message.ChecksumValue;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.CompletePart;
import dev.ashlar.protocol.message.CompleteUpload;
import dev.ashlar.protocol.message.ObjectFacts;
import dev.ashlar.protocol.message.ObjectRecord;
import dev.ashlar.protocol.message.PartRow;
import dev.ashlar.protocol.message.UploadRow;
import dev.ashlar.protocol.message.VersionEntry;
import io.netty.handler.codec.http.HttpHeaders;
import java.util.List;
import java.util.Optional;

/** Makes an object of uploaded parts. No data moves. */
public record CompleteMultipartUploadHandler(Backend backend) {
  private static final int VERSIONS_SEARCHED = 1000;

  /**
   * @param endpoint with its scheme, as the client named it
   */
  public HttpAnswer handle(
      S3Request.CompleteMultipartUpload request, Permit permit, String endpoint, RequestBody body)
      throws S3Exception, MetadataUnavailableException, InterruptedException {
    PartList wanted = PartList.parse(BodyIngest.document(body));
    Optional<UploadRow> upload = Uploads.find(backend, request);
    if (upload.isEmpty()) {
      return completedBefore(request, permit, endpoint, wanted);
    }
    try {
      return complete(request, permit, endpoint, wanted, upload.get());
    } catch (S3Exception e) {
      // Another request for the same upload may have come first.
      if (Uploads.find(backend, request).isEmpty()) {
        return completedBefore(request, permit, endpoint, wanted);
      }
      throw e;
    }
  }

  private HttpAnswer complete(
      S3Request.CompleteMultipartUpload request,
      Permit permit,
      String endpoint,
      PartList wanted,
      UploadRow upload)
      throws S3Exception, MetadataUnavailableException, InterruptedException {
    requireCustomerKey(request, upload);
    WriteConditions.check(backend, request, request.precondition());
    List<PartRow> parts =
        wanted.select(Uploads.allParts(backend.metadata(), upload), request.uploadId());
    String etag = MultipartChecksum.etag(wanted.etags());
    ChecksumValue checksum = MultipartChecksum.of(upload, parts);
    requireExpected(request, upload, parts, checksum);
    CommandResult result =
        backend.submit(
            backend.command().setCompleteUpload(command(request, parts, etag, checksum)));
    HttpAnswer answer = answer(document(request, endpoint, etag, checksum), result);
    EncryptionHeaders.add(answer.headers(), upload.getFacts(), request.customer());
    LifecycleHeaders.addExpiration(
        answer.headers(),
        permit,
        request.key(),
        parts.stream().mapToLong(PartRow::getSize).sum(),
        upload.getFacts().getTagsList(),
        result.getLastModifiedMs());
    return answer;
  }

  /**
   * Answers a repeated completion: the upload is gone, but its object has the upload id until it is
   * replaced or, where versions are kept, deleted.
   */
  private HttpAnswer completedBefore(
      S3Request.CompleteMultipartUpload request, Permit permit, String endpoint, PartList wanted)
      throws S3Exception, MetadataUnavailableException {
    if (!wanted.areMd5s()) {
      throw Uploads.noSuchUpload(request.uploadId());
    }
    String etag = MultipartChecksum.etag(wanted.etags());
    ObjectRecord object =
        completed(request, permit.bucket(), etag)
            .filter(found -> found.getSummary().getEtag().equals(etag))
            .orElseThrow(() -> Uploads.noSuchUpload(request.uploadId()));
    CommandResult written =
        CommandResult.newBuilder()
            .setVersion(object.getVersion())
            .setVersioned(object.getVersioned())
            .build();
    HttpAnswer answer =
        answer(document(request, endpoint, etag, object.getSummary().getChecksum()), written);
    EncryptionHeaders.add(answer.headers(), object.getFacts(), request.customer());
    LifecycleHeaders.addExpiration(answer.headers(), permit, request.key(), object);
    return answer;
  }

  /** What the upload became: mostly the present version. */
  private Optional<ObjectRecord> completed(
      S3Request.CompleteMultipartUpload request, BucketRow bucket, String etag)
      throws MetadataUnavailableException {
    Optional<ObjectRecord> present =
        backend
            .metadata()
            .object(request.bucket(), request.key())
            .map(ObjectRead::object)
            .filter(object -> object.getUploadId().equals(request.uploadId()));
    return present.isPresent() || !VersionId.areKept(bucket)
        ? present
        : completedEarlier(request, etag);
  }

  /** Likewise among the newest versions, of which few have the ETag. */
  private Optional<ObjectRecord> completedEarlier(
      S3Request.CompleteMultipartUpload request, String etag) throws MetadataUnavailableException {
    VersionsQuery query =
        new VersionsQuery(request.bucket(), request.key(), "", "", null, VERSIONS_SEARCHED);
    for (VersionEntry entry : backend.metadata().versions(query).entries()) {
      if (!entry.getName().equals(request.key())) {
        return Optional.empty();
      }
      if (entry.getSummary().getEtag().equals(etag)
          && backend.metadata().version(request.bucket(), request.key(), VersionId.ref(entry))
              instanceof VersionRead.Content content
          && content.read().object().getUploadId().equals(request.uploadId())) {
        return Optional.of(content.read().object());
      }
    }
    return Optional.empty();
  }

  private static HttpAnswer answer(XmlWriter document, CommandResult written) {
    HttpHeaders headers = Answers.headers();
    Answers.addVersion(headers, written);
    return Answers.xml(document.toBytes(), headers);
  }

  private void requireCustomerKey(S3Request.CompleteMultipartUpload request, UploadRow upload)
      throws S3Exception, InterruptedException {
    ObjectFacts facts = upload.getFacts();
    boolean isNeeded =
        (upload.getChecksumAlgorithm() != ChecksumAlgorithm.CHECKSUM_NONE
                || backend.config().answers().completionNeedsCustomerKey())
            && EncryptionHeaders.isOfCustomer(facts);
    if (isNeeded || request.customer().isGiven()) {
      backend.encryptions().openUpload(facts, request.customer());
    }
  }

  private static void requireExpected(
      S3Request.CompleteMultipartUpload request,
      UploadRow upload,
      List<PartRow> parts,
      ChecksumValue checksum)
      throws S3Exception {
    long size = parts.stream().mapToLong(PartRow::getSize).sum();
    if (size > SizeLimits.OBJECT_BYTES_MAX) {
      throw SizeLimits.tooLarge(size, SizeLimits.OBJECT_BYTES_MAX);
    }
    if (request.objectSize() >= 0 && request.objectSize() != size) {
      throw S3Exception.invalidRequest(
          "The provided 'x-amz-mp-object-size' header value "
              + request.objectSize()
              + " does not match what was computed: "
              + size);
    }
    if (request.checksumType() != null && request.checksumType() != upload.getChecksumType()) {
      throw new S3Exception(
          S3Error.BAD_DIGEST,
          "The upload was created using the "
              + Checksums.typeName(upload.getChecksumType())
              + " checksum mode. The complete request must use the same checksum mode.");
    }
    if (request.checksum() != null) {
      requireChecksum(request.checksum(), checksum);
    }
  }

  private static void requireChecksum(S3Request.ExpectedChecksum expected, ChecksumValue checksum)
      throws S3Exception {
    if (!Checksums.isPresent(checksum)) {
      throw new S3Exception(
          S3Error.NOT_IMPLEMENTED,
          "Objects with copied parts have no checksum to compare with the one provided.");
    }
    if (expected.algorithm() != checksum.getAlgorithm()) {
      throw Checksums.mismatch(checksum.getAlgorithm(), expected.algorithm());
    }
    // minio-go leaves out the number of parts.
    String text = Checksums.text(checksum);
    String digest = Checksums.digestText(checksum);
    if (!expected.text().equals(text) && !expected.text().equals(digest)) {
      throw new S3Exception(S3Error.BAD_DIGEST);
    }
  }

  private static CompleteUpload command(
      S3Request.CompleteMultipartUpload request,
      List<PartRow> parts,
      String etag,
      ChecksumValue checksum) {
    CompleteUpload.Builder complete =
        CompleteUpload.newBuilder()
            .setBucket(request.bucket())
            .setKey(request.key())
            .setUploadId(request.uploadId())
            .setEtag(etag)
            .setChecksum(checksum)
            .setPrecondition(request.precondition());
    for (PartRow part : parts) {
      complete.addParts(
          CompletePart.newBuilder().setNumber(part.getNumber()).setToken(part.getToken()));
    }
    return complete.build();
  }

  private static XmlWriter document(
      S3Request.CompleteMultipartUpload request,
      String endpoint,
      String etag,
      ChecksumValue checksum) {
    XmlWriter xml =
        new XmlWriter()
            .openRoot("CompleteMultipartUploadResult")
            .element(
                "Location", endpoint + "/" + request.bucket() + "/" + Percent.encode(request.key()))
            .element("Bucket", request.bucket())
            .element("Key", request.key())
            .element("ETag", Etags.quote(etag));
    Answers.writeChecksum(xml, checksum, true);
    return xml.close();
  }
}
