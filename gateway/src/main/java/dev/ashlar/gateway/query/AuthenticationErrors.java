package dev.ashlar.gateway.query;

import dev.ashlar.gateway.error.S3Exception;

/** Translates what authentication and reading of the body find wrong. */
final class AuthenticationErrors {
  private AuthenticationErrors() {}

  static QueryException of(S3Exception e) {
    String message = String.valueOf(e.getMessage());
    return switch (e.error()) {
      case ACCESS_DENIED ->
          e.details().isEmpty()
              ? new QueryException(
                  QueryError.MISSING_AUTHENTICATION_TOKEN,
                  "Request is missing Authentication Token")
              : new QueryException(QueryError.SIGNATURE_DOES_NOT_MATCH, message);
      case INVALID_ACCESS_KEY_ID, INVALID_TOKEN ->
          new QueryException(
              QueryError.INVALID_CLIENT_TOKEN_ID,
              "The security token included in the request is invalid.");
      case EXPIRED_TOKEN ->
          new QueryException(
              QueryError.EXPIRED_TOKEN, "The security token included in the request is expired");
      case SIGNATURE_DOES_NOT_MATCH ->
          new QueryException(
              QueryError.SIGNATURE_DOES_NOT_MATCH,
              "The request signature we calculated does not match the signature you provided."
                  + " Check your AWS Secret Access Key and signing method.");
      case REQUEST_TIME_TOO_SKEWED ->
          new QueryException(
              QueryError.SIGNATURE_DOES_NOT_MATCH,
              "Signature expired or not yet valid: the time of the request differs too much from"
                  + " that of the server.");
      case SERVICE_UNAVAILABLE -> new QueryException(QueryError.SERVICE_UNAVAILABLE, message, e);
      // No failure of the server, which a cause would be logged as.
      case SLOW_DOWN ->
          new QueryException(QueryError.SERVICE_UNAVAILABLE, message).deniedBy(e.denial());
      case NOT_IMPLEMENTED -> new QueryException(QueryError.NOT_IMPLEMENTED, message);
      default -> new QueryException(QueryError.INCOMPLETE_SIGNATURE, message);
    };
  }
}
