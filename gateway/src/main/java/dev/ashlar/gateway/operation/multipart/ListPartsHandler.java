package dev.ashlar.gateway.operation.multipart;

import dev.ashlar.gateway.access.AccessControl.Permit;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpAnswer;
import dev.ashlar.gateway.operation.shared.Answers;
import dev.ashlar.gateway.operation.shared.Backend;
import dev.ashlar.gateway.operation.shared.DisplayNames;
import dev.ashlar.gateway.operation.shared.LifecycleHeaders;
import dev.ashlar.gateway.s3.Etags;
import dev.ashlar.gateway.s3.S3Dates;
import dev.ashlar.gateway.s3.S3Request;
import dev.ashlar.gateway.uri.Percent;
import dev.ashlar.gateway.xml.XmlWriter;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.PartRow;
import dev.ashlar.protocol.message.UploadRow;
import dev.ashlar.protocol.model.PlacedProfile;
import io.netty.handler.codec.http.HttpHeaders;
import java.util.List;

/** Lists the parts of an upload in progress. */
public record ListPartsHandler(Backend backend) {
  public HttpAnswer handle(S3Request.ListParts request, Permit permit)
      throws S3Exception, MetadataUnavailableException {
    UploadRow upload = Uploads.require(backend, request);
    // One more than asked for tells whether there are more.
    List<PartRow> found =
        backend
            .metadata()
            .parts(
                request.bucket(),
                request.key(),
                request.uploadId(),
                request.partNumberMarker(),
                request.maxParts() + 1);
    boolean isTruncated = request.maxParts() > 0 && found.size() > request.maxParts();
    List<PartRow> parts = found.subList(0, Math.min(found.size(), request.maxParts()));
    XmlWriter xml = new XmlWriter().openRoot("ListPartsResult");
    xml.element("Bucket", request.bucket())
        .element("Key", request.url() ? Percent.encode(request.key()) : request.key());
    if (request.url()) {
      xml.element("EncodingType", "url");
    }
    xml.element("UploadId", request.uploadId());
    describe(xml, upload, new DisplayNames(backend, permit.caller()));
    xml.element("PartNumberMarker", request.partNumberMarker())
        .element("NextPartNumberMarker", parts.isEmpty() ? 0 : parts.getLast().getNumber())
        .element("MaxParts", request.maxParts())
        .element("IsTruncated", isTruncated);
    parts.forEach(part -> write(xml, part));
    HttpHeaders headers = Answers.headers();
    LifecycleHeaders.addAbort(headers, permit, upload);
    return Answers.xml(xml.close().toBytes(), headers);
  }

  private static void describe(XmlWriter xml, UploadRow upload, DisplayNames names)
      throws MetadataUnavailableException {
    String initiator = Uploads.initiator(upload);
    xml.person("Initiator", initiator, names.of(initiator))
        .person("Owner", upload.getOwner(), names.of(upload.getOwner()))
        .element("StorageClass", PlacedProfile.className(upload.getStorageClass()));
    Answers.writeChecksumAlgorithm(xml, upload.getChecksumAlgorithm(), upload.getChecksumType());
  }

  private static void write(XmlWriter xml, PartRow part) {
    xml.open("Part")
        .element("PartNumber", part.getNumber())
        .element("LastModified", S3Dates.xml(part.getLastModifiedMs()))
        .element("ETag", Etags.quote(part.getEtag()))
        .element("Size", part.getSize());
    Answers.writeChecksum(xml, part.getChecksum(), false);
    xml.close();
  }
}
