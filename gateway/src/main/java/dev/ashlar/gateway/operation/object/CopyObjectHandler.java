package dev.ashlar.gateway.operation.object;

import dev.ashlar.gateway.access.AccessControl.Permit;
import dev.ashlar.gateway.access.Caller;
import dev.ashlar.gateway.access.Need;
import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpAnswer;
import dev.ashlar.gateway.operation.shared.Answers;
import dev.ashlar.gateway.operation.shared.Backend;
import dev.ashlar.gateway.operation.shared.CopySources;
import dev.ashlar.gateway.operation.shared.NewObjectAccess;
import dev.ashlar.gateway.operation.shared.WriteConditions;
import dev.ashlar.gateway.s3.Etags;
import dev.ashlar.gateway.s3.S3Dates;
import dev.ashlar.gateway.s3.S3Request;
import dev.ashlar.gateway.s3.SizeLimits;
import dev.ashlar.gateway.xml.XmlWriter;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.ChecksumAlgorithm;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CopyObject;
import dev.ashlar.protocol.message.ObjectFacts;
import dev.ashlar.protocol.message.ObjectRecord;
import dev.ashlar.protocol.message.ObjectSummary;
import dev.ashlar.protocol.message.Tag;
import io.netty.handler.codec.http.HttpHeaders;
import java.util.List;

/** Copies an object by referring to the same blobs. No data moves. */
public record CopyObjectHandler(Backend backend) {

  public HttpAnswer handle(S3Request.CopyObject request, Permit permit)
      throws S3Exception, MetadataUnavailableException {
    NewObjectAccess access = NewObjectAccess.of(backend, permit, request.acl());
    WriteConditions.check(backend, request, request.precondition());
    CopySources.Copied copied =
        new CopySources(backend, permit.caller())
            .copy(
                request.source(),
                from -> {
                  ObjectRecord source = from.object().object();
                  requireCopyable(source, request.checksum());
                  ObjectFacts facts = access.facts(facts(request, from, permit.caller()));
                  return Command.newBuilder().setCopyObject(copy(request, source, facts, access));
                });
    HttpHeaders headers = Answers.headers();
    Answers.addVersion(headers, copied.result());
    copied.addSourceVersion(headers);
    return Answers.xml(
        document(copied.source().getSummary(), copied.result().getLastModifiedMs()).toBytes(),
        headers);
  }

  private static void requireCopyable(ObjectRecord source, ChecksumAlgorithm wanted)
      throws S3Exception {
    SizeLimits.requireCopyable(source.getSummary().getSize());
    ChecksumAlgorithm present = source.getSummary().getChecksum().getAlgorithm();
    if (wanted != ChecksumAlgorithm.CHECKSUM_NONE && wanted != present) {
      throw new S3Exception(
          S3Error.NOT_IMPLEMENTED,
          "A copy keeps the checksum of its source; computing another one is not implemented.");
    }
  }

  /** What the copy has beside its content. Tags are copied by those who may read and put them. */
  private ObjectFacts facts(S3Request.CopyObject request, Permit source, Caller caller)
      throws S3Exception, MetadataUnavailableException {
    List<Tag> tags = source.object().object().getFacts().getTagsList();
    if (!request.copiesTags() || tags.isEmpty()) {
      return request.given().facts();
    }
    if (!source.isAllowedOnObject(request.source().needsOfTags())) {
      throw new S3Exception(S3Error.ACCESS_DENIED);
    }
    backend
        .access()
        .require(
            caller.bringing(tags),
            new Need(
                List.of("s3:PutObject", "s3:PutObjectTagging"),
                new Need.Resource.Key(request.bucket(), request.key())));
    return request.given().facts().toBuilder().addAllTags(tags).build();
  }

  private static CopyObject copy(
      S3Request.CopyObject request,
      ObjectRecord source,
      ObjectFacts facts,
      NewObjectAccess access) {
    return CopyObject.newBuilder()
        .setSourceBucket(request.source().bucket())
        .setSourceKey(request.source().key())
        .setSourceVersion(source.getVersion())
        .setBucket(request.bucket())
        .setKey(request.key())
        .setSummary(source.getSummary().toBuilder().setOwner(access.owner()))
        .setAttributes(request.attributes() == null ? source.getAttributes() : request.attributes())
        .setPrecondition(request.precondition())
        .setFacts(facts)
        .setLock(request.given().lock())
        .build();
  }

  private static XmlWriter document(ObjectSummary source, long lastModifiedMs) {
    XmlWriter xml = new XmlWriter().openRoot("CopyObjectResult");
    xml.element("LastModified", S3Dates.xml(lastModifiedMs));
    xml.element("ETag", Etags.quote(source.getEtag()));
    Answers.writeChecksum(xml, source.getChecksum(), true);
    return xml.close();
  }
}
