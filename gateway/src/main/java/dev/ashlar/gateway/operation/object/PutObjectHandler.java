package dev.ashlar.gateway.operation.object;

import dev.ashlar.blob.ObjectWriter;
import dev.ashlar.gateway.access.AccessControl.Permit;
import dev.ashlar.gateway.auth.Authenticator.PayloadBody;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpAnswer;
import dev.ashlar.gateway.operation.shared.Answers;
import dev.ashlar.gateway.operation.shared.Backend;
import dev.ashlar.gateway.operation.shared.BodyIngest;
import dev.ashlar.gateway.operation.shared.ErrorMapping;
import dev.ashlar.gateway.operation.shared.LifecycleHeaders;
import dev.ashlar.gateway.operation.shared.NewObjectAccess;
import dev.ashlar.gateway.operation.shared.StorageClass;
import dev.ashlar.gateway.operation.shared.WriteConditions;
import dev.ashlar.gateway.s3.S3Request;
import dev.ashlar.protocol.client.UnavailableException;
import dev.ashlar.protocol.message.ChecksumAlgorithm;
import dev.ashlar.protocol.message.ChecksumValue;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.ObjectSummary;
import dev.ashlar.protocol.message.PutObject;

/** Stores an object. */
public record PutObjectHandler(Backend backend) {
  public HttpAnswer handle(S3Request.PutObject request, Permit permit, PayloadBody body)
      throws S3Exception, UnavailableException, InterruptedException {
    WriteConditions.check(backend, request, request.precondition());
    Stored stored = store(request, permit, body);
    ErrorMapping.requireOk(stored.result);
    return answer(request, permit, stored);
  }

  /** The answer to an upload that was stored. */
  static HttpAnswer answer(S3Request.PutObject request, Permit permit, Stored stored) {
    HttpAnswer answer = stored.answer();
    LifecycleHeaders.addExpiration(
        answer.headers(),
        permit,
        request.key(),
        stored.size,
        request.given().tags().tags(),
        stored.result.getLastModifiedMs());
    return answer;
  }

  /** Takes the body in and submits the command that makes an object of it. */
  public Stored store(S3Request.PutObject request, Permit permit, PayloadBody body)
      throws S3Exception, UnavailableException, InterruptedException {
    StorageClass storageClass =
        StorageClass.asked(backend, permit.bucket(), request.storageClass());
    NewObjectAccess access = NewObjectAccess.of(backend, permit, request.acl());
    BodyIngest.chooseChecksum(body, request.announced(), ChecksumAlgorithm.CHECKSUM_NONE);
    try (ObjectWriter writer =
        backend.store().newWriter(storageClass.profile().number(), body.length())) {
      String etag = BodyIngest.copy(body, writer);
      ObjectSummary summary =
          ObjectSummary.newBuilder()
              .setSize(writer.length())
              .setEtag(etag)
              .setOwner(access.owner())
              .setStorageClass(storageClass.stored())
              .setChecksum(body.checksum())
              .build();
      CommandResult result =
          writer.commit(
              blobs ->
                  Command.newBuilder()
                      .setPutObject(
                          PutObject.newBuilder()
                              .setBucket(request.bucket())
                              .setKey(request.key())
                              .setSummary(summary)
                              .setAttributes(request.attributes())
                              .setFacts(access.facts(request.given().facts()))
                              .setLock(request.given().lock())
                              .addAllBlobs(blobs)
                              .setPrecondition(request.precondition())));
      return new Stored(result, etag, writer.length(), body.checksum());
    }
  }

  /** What came of storing an object; not there unless the result is OK. */
  public record Stored(CommandResult result, String etag, long size, ChecksumValue checksum) {
    public HttpAnswer answer() {
      HttpAnswer answer = Answers.stored(etag, checksum, true);
      Answers.addVersion(answer.headers(), result);
      return answer;
    }
  }
}
