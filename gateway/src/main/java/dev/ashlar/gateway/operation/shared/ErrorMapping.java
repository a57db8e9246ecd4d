package dev.ashlar.gateway.operation.shared;

import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.gateway.error.Denial;
import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.protocol.client.UnavailableException;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.ResultCode;

/** Maps errors of metadata and of the erasure-coding engine to S3 errors. */
public final class ErrorMapping {
  private ErrorMapping() {}

  /** Returns a result that is OK; throws the S3 error of any other. */
  public static CommandResult requireOk(CommandResult result) throws S3Exception {
    requireOk(result.getCode());
    return result;
  }

  /** Throws the S3 error of a code that is not OK. */
  public static void requireOk(ResultCode code) throws S3Exception {
    if (code != ResultCode.OK) {
      S3Exception error = new S3Exception(error(code));
      throw code == ResultCode.OBJECT_LOCKED ? error.deniedBy(Denial.LOCK) : error;
    }
  }

  /** The S3 error of a result that is not OK. */
  public static S3Error error(ResultCode code) {
    return switch (code) {
      case NO_SUCH_BUCKET -> S3Error.NO_SUCH_BUCKET;
      case NO_SUCH_KEY -> S3Error.NO_SUCH_KEY;
      case NO_SUCH_UPLOAD -> S3Error.NO_SUCH_UPLOAD;
      case BUCKET_NOT_EMPTY -> S3Error.BUCKET_NOT_EMPTY;
      case BUCKET_ALREADY_OWNED_BY_YOU -> S3Error.BUCKET_ALREADY_OWNED_BY_YOU;
      case BUCKET_ALREADY_EXISTS -> S3Error.BUCKET_ALREADY_EXISTS;
      case PRECONDITION_FAILED -> S3Error.PRECONDITION_FAILED;
      case NO_SUCH_VERSION -> S3Error.NO_SUCH_VERSION;
      case IS_DELETE_MARKER -> S3Error.METHOD_NOT_ALLOWED;
      case INVALID_BUCKET_STATE -> S3Error.INVALID_BUCKET_STATE;
      case CONDITIONAL_CONFLICT -> S3Error.CONDITIONAL_REQUEST_CONFLICT;
      case OBJECT_LOCKED -> S3Error.ACCESS_DENIED;
      case QUOTA_EXCEEDED -> S3Error.QUOTA_EXCEEDED;
      case TOKEN_REUSED -> S3Error.IDEMPOTENCY_PARAMETER_MISMATCH;
      case INVALID_PART -> S3Error.INVALID_PART;
      case NO_SUCH_CLASS -> S3Error.INVALID_STORAGE_CLASS;
      case ENTITY_TOO_SMALL -> S3Error.ENTITY_TOO_SMALL;
      case LIMIT_EXCEEDED -> S3Error.INVALID_REQUEST;
      case INVALID_RANGE -> S3Error.INVALID_RANGE;
      case INVALID_OFFSET -> S3Error.INVALID_WRITE_OFFSET;
      // Of S3 operations, only one that creates a bucket meets it: its account was just deleted.
      case NO_SUCH_ENTITY -> S3Error.INVALID_ACCESS_KEY_ID;
      // The command was not applied, or its outcome is unknown: the client has to retry.
      case NOT_DURABLE, DEAD_SESSION, STALE_REQUEST, TOO_MANY_UNFOLDED, NO_SUCH_PROFILE ->
          S3Error.SERVICE_UNAVAILABLE;
      // While a cluster is upgraded, commands of the new version are refused until all peers, and
      // for encryption all gateways, know it.
      case INVALID_COMMAND, OLDER_GATEWAYS -> S3Error.SERVICE_UNAVAILABLE;
      // No S3 operation sends a command that is answered with one of the last two.
      case OK, UNRECOGNIZED, ENTITY_ALREADY_EXISTS, DELETE_CONFLICT -> S3Error.INTERNAL_ERROR;
    };
  }

  public static S3Exception of(UnavailableException e) {
    return e instanceof DataUnavailableException data
        ? ofData(data)
        : new S3Exception(S3Error.SERVICE_UNAVAILABLE, e);
  }

  private static S3Exception ofData(DataUnavailableException e) {
    S3Error error =
        switch (e.reason()) {
          case TOO_FEW_DRIVES, MISPLACED, GONE, CANCELLED -> S3Error.SERVICE_UNAVAILABLE;
          case FULL, OVERLOADED -> S3Error.SLOW_DOWN;
          case CONFLICT -> S3Error.CONDITIONAL_REQUEST_CONFLICT;
          case DAMAGED -> S3Error.INTERNAL_ERROR;
        };
    String message =
        switch (e.reason()) {
          case TOO_FEW_DRIVES, MISPLACED -> "Too few drives answer. Please try again.";
          case FULL -> "The drives are full. Deleting objects frees space.";
          case OVERLOADED, GONE, CONFLICT, CANCELLED, DAMAGED -> error.message();
        };
    return new S3Exception(error, message, e);
  }
}
