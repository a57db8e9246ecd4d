package dev.ashlar.gateway.operation.change;

import dev.ashlar.gateway.access.AccessControl.Permit;
import dev.ashlar.gateway.auth.Authenticator.PayloadBody;
import dev.ashlar.gateway.encryption.EncryptionHeaders;
import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpAnswer;
import dev.ashlar.gateway.operation.shared.Answers;
import dev.ashlar.gateway.operation.shared.Backend;
import dev.ashlar.gateway.operation.shared.ErrorMapping;
import dev.ashlar.gateway.operation.shared.StorageClass;
import dev.ashlar.gateway.operation.shared.WriteConditions;
import dev.ashlar.gateway.s3.Etags;
import dev.ashlar.gateway.s3.S3Dates;
import dev.ashlar.gateway.s3.S3Request;
import dev.ashlar.gateway.xml.XmlWriter;
import dev.ashlar.protocol.client.ObjectRead;
import dev.ashlar.protocol.client.UnavailableException;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.ModifyObject;
import dev.ashlar.protocol.message.ObjectRecord;
import dev.ashlar.protocol.message.Precondition;
import io.netty.handler.codec.http.HttpHeaders;
import java.util.Optional;

/** Overwrites a range of an object. Bytes behind its end are appended. */
public record PatchObjectHandler(Backend backend) {
  public HttpAnswer handle(S3Request.PatchObject request, Permit permit, PayloadBody body)
      throws S3Exception, UnavailableException, InterruptedException {
    ChangeIngest.requireNoVersions(permit.bucket());
    long length = body.length();
    ObjectRead object = permit.object();
    Precondition condition = condition(request, object);
    StorageClass.requireSame(
        request.storageClass(), object.object().getSummary().getStorageClass());
    ByteRange range = request.range().resolve(length, object.object().getSummary().getSize());
    ModifyObject.Builder command =
        ModifyObject.newBuilder()
            .setBucket(request.bucket())
            .setKey(request.key())
            .setPrecondition(condition);
    CommandResult result =
        new ChangeIngest(backend, request.customer())
            .commit(
                new ChangeIngest.Place(object, range.offset(), length),
                body,
                request.announced(),
                command);
    requireOk(result);
    HttpHeaders headers = Answers.headers();
    EncryptionHeaders.add(headers, object.object().getFacts(), request.customer());
    return Answers.xml(document(result).toBytes(), headers);
  }

  /** Checks the conditions, and returns those that must hold when the change is applied. */
  private static Precondition condition(S3Request.PatchObject request, ObjectRead read)
      throws S3Exception {
    WriteConditions.check(Optional.of(read), request.precondition(), request.key());
    if (request.unmodifiedSince() < 0) {
      return request.precondition();
    }
    ObjectRecord object = read.object();
    if (object.getSummary().getLastModifiedMs() / 1000 > request.unmodifiedSince()) {
      throw new S3Exception(S3Error.PRECONDITION_FAILED);
    }
    return request.precondition().toBuilder().setIfVersion(object.getVersion()).build();
  }

  private static void requireOk(CommandResult result) throws S3Exception {
    switch (result.getCode()) {
      case CONDITIONAL_CONFLICT -> throw new S3Exception(S3Error.CONCURRENT_UPDATES_PATCH_CONFLICT);
      // The object became shorter meanwhile.
      case INVALID_OFFSET -> throw new S3Exception(S3Error.INVALID_RANGE);
      default -> ErrorMapping.requireOk(result);
    }
  }

  private static XmlWriter document(CommandResult result) {
    return new XmlWriter()
        .open("PatchObjectResult")
        .open("Object")
        .element("LastModified", S3Dates.xml(result.getLastModifiedMs()))
        .element("ETag", Etags.quote(result.getEtag()))
        .close()
        .close();
  }
}
