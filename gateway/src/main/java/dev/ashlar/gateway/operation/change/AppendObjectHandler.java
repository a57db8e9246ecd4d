package dev.ashlar.gateway.operation.change;

import dev.ashlar.gateway.access.AccessControl.Permit;
import dev.ashlar.gateway.access.acl.AclRequest;
import dev.ashlar.gateway.auth.Authenticator.PayloadBody;
import dev.ashlar.gateway.encryption.EncryptionHeaders;
import dev.ashlar.gateway.encryption.PresentEncryption;
import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpAnswer;
import dev.ashlar.gateway.operation.object.PutObjectHandler;
import dev.ashlar.gateway.operation.shared.Answers;
import dev.ashlar.gateway.operation.shared.Backend;
import dev.ashlar.gateway.operation.shared.ErrorMapping;
import dev.ashlar.gateway.operation.shared.StorageClass;
import dev.ashlar.gateway.operation.shared.WriteConditions;
import dev.ashlar.gateway.s3.NewFacts;
import dev.ashlar.gateway.s3.S3Request;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.ObjectRead;
import dev.ashlar.protocol.client.UnavailableException;
import dev.ashlar.protocol.message.ChecksumAlgorithm;
import dev.ashlar.protocol.message.ChecksumValue;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.ModifyObject;
import dev.ashlar.protocol.message.Precondition;
import dev.ashlar.protocol.message.ResultCode;
import java.util.Optional;

/** Appends bytes to an object, or creates it. */
public record AppendObjectHandler(Backend backend) {
  private static final String NEXT_POSITION = "x-rgw-next-append-position";

  public HttpAnswer handle(S3Request.AppendObject request, Permit permit, PayloadBody body)
      throws S3Exception, UnavailableException, InterruptedException {
    ChangeIngest.requireNoVersions(permit.bucket());
    long length = body.length();
    Optional<ObjectRead> object = backend.metadata().object(request.bucket(), request.key());
    requireExpected(request, object);
    HttpAnswer answer =
        object.isEmpty()
            ? create(request, permit, body)
            : append(request, body, new ChangeIngest.Place(object.get(), request.offset(), length));
    switch (request.dialect()) {
      case EXPRESS ->
          answer.headers().set("x-amz-object-size", Long.toString(request.offset() + length));
      case RGW -> answer.headers().set(NEXT_POSITION, Long.toString(request.offset() + length));
    }
    return answer;
  }

  /** Fails unless the object meets the conditions and has the size that the client expects. */
  private static void requireExpected(S3Request.AppendObject request, Optional<ObjectRead> object)
      throws S3Exception {
    WriteConditions.check(object, request.precondition(), request.key());
    long size = object.isEmpty() ? 0 : object.get().object().getSummary().getSize();
    if (request.offset() != size) {
      throw switch (request.dialect()) {
        case EXPRESS -> new S3Exception(S3Error.INVALID_WRITE_OFFSET);
        case RGW ->
            new S3Exception(S3Error.POSITION_NOT_EQUAL_TO_LENGTH)
                .withHeader(NEXT_POSITION, Long.toString(size));
      };
    }
  }

  private HttpAnswer create(S3Request.AppendObject request, Permit permit, PayloadBody body)
      throws S3Exception, UnavailableException, InterruptedException {
    ChangeIngest.requireBytes(body.length());
    // Fails if another request has created the object meanwhile.
    Precondition isAbsent = request.precondition().toBuilder().setIfNoneMatch("*").build();
    PutObjectHandler.Stored stored =
        new PutObjectHandler(backend)
            .store(
                new S3Request.PutObject(
                    request.bucket(),
                    request.key(),
                    request.attributes(),
                    request.storageClass(),
                    NewFacts.NONE,
                    isAbsent,
                    request.announced(),
                    AclRequest.none(),
                    request.encryption()),
                permit,
                body);
    requireWon(request, stored.result());
    return stored.answer(request.encryption());
  }

  private HttpAnswer append(
      S3Request.AppendObject request, PayloadBody body, ChangeIngest.Place place)
      throws S3Exception, UnavailableException, InterruptedException {
    if (request.attributes().getUserMetadataCount() > 0) {
      throw S3Exception.invalidRequest(
          "Cannot specify both a write offset value and user-defined object metadata for existing"
              + " objects.");
    }
    StorageClass.requireSame(request.storageClass(), place.summary().getStorageClass());
    PresentEncryption.requireSame(
        backend.encryptions(), request.encryption(), place.object().object().getFacts());
    ModifyObject.Builder command =
        ModifyObject.newBuilder()
            .setBucket(request.bucket())
            .setKey(request.key())
            .setPrecondition(request.precondition())
            .setAppend(true);
    CommandResult result =
        new ChangeIngest(backend, request.encryption().customer())
            .commit(place, body, request.announced(), command);
    requireWon(request, result);
    // The checksum of the appended bytes, for a client that sent one to compare.
    boolean isWanted = request.announced() != ChecksumAlgorithm.CHECKSUM_NONE;
    HttpAnswer answer =
        Answers.stored(
            result.getEtag(),
            isWanted ? body.checksum() : ChecksumValue.getDefaultInstance(),
            false);
    EncryptionHeaders.add(
        answer.headers(), place.object().object().getFacts(), request.encryption().customer());
    return answer;
  }

  /** Answers with the error that fits the current object if another request was faster. */
  private void requireWon(S3Request.AppendObject request, CommandResult result)
      throws S3Exception, MetadataUnavailableException {
    ResultCode code = result.getCode();
    boolean isLost =
        code == ResultCode.PRECONDITION_FAILED
            || code == ResultCode.CONDITIONAL_CONFLICT
            || code == ResultCode.INVALID_OFFSET
            || code == ResultCode.NO_SUCH_KEY;
    if (isLost) {
      requireExpected(request, backend.metadata().object(request.bucket(), request.key()));
      throw new S3Exception(S3Error.CONDITIONAL_REQUEST_CONFLICT);
    }
    ErrorMapping.requireOk(result);
  }
}
