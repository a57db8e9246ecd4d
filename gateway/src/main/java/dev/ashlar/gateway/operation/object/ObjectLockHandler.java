package dev.ashlar.gateway.operation.object;

import dev.ashlar.gateway.access.AccessControl.Permit;
import dev.ashlar.gateway.access.Caller;
import dev.ashlar.gateway.access.Need;
import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpAnswer;
import dev.ashlar.gateway.exchange.HttpExchange.RequestBody;
import dev.ashlar.gateway.operation.shared.Answers;
import dev.ashlar.gateway.operation.shared.Backend;
import dev.ashlar.gateway.operation.shared.BodyIngest;
import dev.ashlar.gateway.operation.shared.ErrorMapping;
import dev.ashlar.gateway.operation.shared.FactChanges;
import dev.ashlar.gateway.operation.shared.LockRules;
import dev.ashlar.gateway.s3.LockValues;
import dev.ashlar.gateway.s3.S3Dates;
import dev.ashlar.gateway.s3.S3Request;
import dev.ashlar.gateway.xml.XmlWriter;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.ObjectLock;
import dev.ashlar.protocol.message.ResultCode;

/** Reads and changes retention and legal hold of a version. */
public record ObjectLockHandler(Backend backend) {
  public static HttpAnswer handle(S3Request.GetObjectRetention request, Permit permit)
      throws S3Exception {
    ObjectLock lock = permit.object().object().getLock();
    if (lock.getMode() == ObjectLock.Mode.NONE) {
      throw notLocked(permit);
    }
    return Answers.xml(
        new XmlWriter()
            .openRoot("Retention")
            .element("Mode", lock.getMode().name())
            .element("RetainUntilDate", S3Dates.exact(lock.getRetainUntilMs()))
            .close());
  }

  public static HttpAnswer handle(S3Request.GetObjectLegalHold request, Permit permit)
      throws S3Exception {
    ObjectLock lock = permit.object().object().getLock();
    if (!lock.getLegalHoldTold()) {
      throw notLocked(permit);
    }
    return Answers.xml(
        new XmlWriter()
            .openRoot("LegalHold")
            .element("Status", lock.getLegalHold() ? "ON" : "OFF")
            .close());
  }

  private static S3Exception notLocked(Permit permit) {
    return permit.bucket().getHasLock()
        ? new S3Exception(S3Error.NO_SUCH_OBJECT_LOCK_CONFIGURATION)
        : LockRules.missingConfiguration();
  }

  /** Decides here, as policies may ask which retention the body brings. */
  public HttpAnswer handle(S3Request.PutObjectRetention request, Caller caller, RequestBody body)
      throws S3Exception, MetadataUnavailableException, InterruptedException {
    ObjectLock lock = LockValues.retention(BodyIngest.document(body));
    return set(
        request,
        caller.bringing(lock, backend.clock().instant()),
        request.needsOfObject(),
        lock,
        (command, permit) ->
            command.setRetention(lock).setBypassGovernance(request.bypassesGovernance()));
  }

  /** Decides here, as policies may ask which hold the body brings. */
  public HttpAnswer handle(S3Request.PutObjectLegalHold request, Caller caller, RequestBody body)
      throws S3Exception, MetadataUnavailableException, InterruptedException {
    ObjectLock lock = LockValues.legalHold(BodyIngest.document(body));
    return set(
        request,
        caller.bringing(lock, backend.clock().instant()),
        request.needsOfObject(),
        lock,
        (command, permit) -> command.setLegalHold(lock.getLegalHold()));
  }

  private HttpAnswer set(
      S3Request.FactsRequest request,
      Caller caller,
      Need need,
      ObjectLock lock,
      FactChanges.Change change)
      throws S3Exception, MetadataUnavailableException, InterruptedException {
    Permit permit = backend.access().require(caller, need);
    LockRules.requirePossible(permit.bucket());
    LockRules.requireFuture(lock, backend.clock());
    CommandResult result =
        new FactChanges(backend).set(request.stored(), permit, caller, need, change);
    if (result.getCode() == ResultCode.INVALID_BUCKET_STATE) {
      throw LockRules.missingConfiguration();
    }
    ErrorMapping.requireOk(result);
    return Answers.empty(200);
  }
}
