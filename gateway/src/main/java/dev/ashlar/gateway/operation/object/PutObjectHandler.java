package dev.ashlar.gateway.operation.object;

import dev.ashlar.gateway.access.AccessControl.Permit;
import dev.ashlar.gateway.auth.Authenticator.PayloadBody;
import dev.ashlar.gateway.encryption.EncryptionFields;
import dev.ashlar.gateway.encryption.EncryptionHeaders;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpAnswer;
import dev.ashlar.gateway.operation.shared.Answers;
import dev.ashlar.gateway.operation.shared.Backend;
import dev.ashlar.gateway.operation.shared.BodyIngest;
import dev.ashlar.gateway.operation.shared.ContentWriter;
import dev.ashlar.gateway.operation.shared.ErrorMapping;
import dev.ashlar.gateway.operation.shared.LifecycleHeaders;
import dev.ashlar.gateway.operation.shared.NewKey;
import dev.ashlar.gateway.operation.shared.NewObjectAccess;
import dev.ashlar.gateway.operation.shared.StorageClass;
import dev.ashlar.gateway.operation.shared.WriteConditions;
import dev.ashlar.gateway.s3.S3Request;
import dev.ashlar.protocol.client.UnavailableException;
import dev.ashlar.protocol.message.ChecksumAlgorithm;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.ObjectFacts;
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
    HttpAnswer answer = stored.answer(request.encryption());
    LifecycleHeaders.addExpiration(
        answer.headers(),
        permit,
        request.key(),
        stored.summary.getSize(),
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
    NewKey key = NewKey.chosen(backend, request.encryption(), permit.config());
    try (ContentWriter writer =
        ContentWriter.begin(backend, storageClass.profile().number(), body.length(), key)) {
      String etag = BodyIngest.copy(body, writer, backend.random());
      ObjectSummary summary =
          ObjectSummary.newBuilder()
              .setSize(writer.length())
              .setEtag(etag)
              .setOwner(access.owner())
              .setStorageClass(storageClass.stored())
              .setChecksum(body.checksum())
              .build();
      ObjectFacts facts = NewKey.addTo(access.facts(request.given().facts()), key, writer.run());
      CommandResult result =
          writer.commit(
              blobs ->
                  backend
                      .command()
                      .setPutObject(
                          PutObject.newBuilder()
                              .setBucket(request.bucket())
                              .setKey(request.key())
                              .setSummary(summary)
                              .setAttributes(request.attributes())
                              .setFacts(facts)
                              .setLock(request.given().lock())
                              .addAllBlobs(blobs)
                              .setPrecondition(request.precondition())));
      return new Stored(result, summary, facts);
    }
  }

  /** What came of storing an object; not there unless the result is OK. */
  public record Stored(CommandResult result, ObjectSummary summary, ObjectFacts facts) {
    public HttpAnswer answer(EncryptionFields asked) {
      HttpAnswer answer = Answers.stored(summary.getEtag(), summary.getChecksum(), true);
      Answers.addVersion(answer.headers(), result);
      EncryptionHeaders.addWritten(answer.headers(), facts, asked.customer());
      return answer;
    }
  }
}
