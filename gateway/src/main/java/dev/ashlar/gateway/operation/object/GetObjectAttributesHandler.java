package dev.ashlar.gateway.operation.object;

import dev.ashlar.gateway.access.AccessControl.Permit;
import dev.ashlar.gateway.checksum.Checksums;
import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpAnswer;
import dev.ashlar.gateway.operation.shared.Answers;
import dev.ashlar.gateway.operation.shared.Backend;
import dev.ashlar.gateway.operation.shared.ObjectContent;
import dev.ashlar.gateway.s3.Etags;
import dev.ashlar.gateway.s3.S3Dates;
import dev.ashlar.gateway.s3.S3Request;
import dev.ashlar.gateway.s3.S3Request.ObjectAttribute;
import dev.ashlar.gateway.xml.XmlWriter;
import dev.ashlar.protocol.message.ChecksumValue;
import dev.ashlar.protocol.message.ObjectRecord;
import dev.ashlar.protocol.message.ObjectSummary;
import dev.ashlar.protocol.message.PartSummary;
import dev.ashlar.protocol.model.PlacedProfile;
import io.netty.handler.codec.http.HttpHeaders;
import java.util.List;
import java.util.Set;

/** Answers with attributes of an object in a document. */
public record GetObjectAttributesHandler(Backend backend) {
  public HttpAnswer handle(S3Request.GetObjectAttributes request, Permit permit)
      throws S3Exception, InterruptedException {
    ObjectRecord object = permit.object().object();
    ObjectContent.requireCustomerKey(backend, object.getFacts(), request.customer());
    ObjectSummary summary = object.getSummary();
    HttpHeaders headers = Answers.headers();
    headers.set("Last-Modified", S3Dates.http(summary.getLastModifiedMs()));
    Answers.addVersion(headers, permit);
    switch (request.conditions().judge(summary.getEtag(), summary.getLastModifiedMs())) {
      case FAILED -> throw new S3Exception(S3Error.PRECONDITION_FAILED);
      case NOT_MODIFIED -> {
        return Answers.empty(304, headers.set("ETag", Etags.quote(summary.getEtag())));
      }
      case PASS -> {
        return Answers.xml(document(request, object).toBytes(), headers);
      }
    }
    throw new IllegalStateException("no verdict");
  }

  private XmlWriter document(S3Request.GetObjectAttributes request, ObjectRecord object) {
    ObjectSummary summary = object.getSummary();
    Set<ObjectAttribute> wanted = request.attributes();
    XmlWriter xml = new XmlWriter().openRoot("GetObjectAttributesResponse");
    if (wanted.contains(ObjectAttribute.ETAG)) {
      xml.element("ETag", summary.getEtag());
    }
    if (wanted.contains(ObjectAttribute.CHECKSUM) && Checksums.isPresent(summary.getChecksum())) {
      ChecksumValue digest =
          backend.config().answers().attributesHavePartCount()
              ? summary.getChecksum()
              : summary.getChecksum().toBuilder().clearPartCount().build();
      xml.open("Checksum");
      Answers.writeChecksum(xml, digest, true);
      xml.close();
    }
    if (wanted.contains(ObjectAttribute.OBJECT_PARTS) && object.getPartsCount() > 0) {
      writeParts(xml, request, object.getPartsList());
    }
    if (wanted.contains(ObjectAttribute.STORAGE_CLASS)) {
      xml.element("StorageClass", PlacedProfile.className(summary.getStorageClass()));
    }
    if (wanted.contains(ObjectAttribute.OBJECT_SIZE)) {
      xml.element("ObjectSize", summary.getSize());
    }
    return xml.close();
  }

  private static void writeParts(
      XmlWriter xml, S3Request.GetObjectAttributes request, List<PartSummary> all) {
    List<PartSummary> after =
        all.stream().filter(part -> part.getNumber() > request.partNumberMarker()).toList();
    List<PartSummary> page = after.subList(0, Math.min(after.size(), request.maxParts()));
    xml.open("ObjectParts")
        .element("PartsCount", all.size())
        .element("PartNumberMarker", request.partNumberMarker())
        .element("NextPartNumberMarker", page.isEmpty() ? 0 : page.getLast().getNumber())
        .element("MaxParts", request.maxParts())
        .element("IsTruncated", page.size() < after.size());
    for (PartSummary part : page) {
      xml.open("Part").element("PartNumber", part.getNumber()).element("Size", part.getSize());
      Answers.writeChecksum(xml, part.getChecksum(), false);
      xml.close();
    }
    xml.close();
  }
}
