package dev.ashlar.gateway.query;

/** Every error that IAM and STS answer, with AWS's code and status. */
public enum QueryError {
  ACCESS_DENIED(403, "AccessDenied"),
  CONCURRENT_MODIFICATION(409, "ConcurrentModification"),
  DELETE_CONFLICT(409, "DeleteConflict"),
  ENTITY_ALREADY_EXISTS(409, "EntityAlreadyExists"),
  EXPIRED_TOKEN(403, "ExpiredToken"),
  EXPIRED_TOKEN_EXCEPTION(400, "ExpiredTokenException"),
  IDP_REJECTED_CLAIM(403, "IDPRejectedClaim"),
  INCOMPLETE_SIGNATURE(403, "IncompleteSignature"),
  INTERNAL_FAILURE(500, "InternalFailure"),
  INVALID_ACTION(400, "InvalidAction"),
  INVALID_CLIENT_TOKEN_ID(403, "InvalidClientTokenId"),
  INVALID_IDENTITY_TOKEN(400, "InvalidIdentityToken"),
  INVALID_INPUT(400, "InvalidInput"),
  LIMIT_EXCEEDED(409, "LimitExceeded"),
  MALFORMED_POLICY_DOCUMENT(400, "MalformedPolicyDocument"),
  MALFORMED_QUERY_STRING(400, "MalformedQueryString"),
  MISSING_ACTION(400, "MissingAction"),
  MISSING_AUTHENTICATION_TOKEN(403, "MissingAuthenticationToken"),
  NO_SUCH_ENTITY(404, "NoSuchEntity"),
  NOT_IMPLEMENTED(501, "NotImplemented"),
  PACKED_POLICY_TOO_LARGE(400, "PackedPolicyTooLarge"),
  REQUEST_ENTITY_TOO_LARGE(413, "RequestEntityTooLarge"),
  SERVICE_UNAVAILABLE(503, "ServiceUnavailable"),
  SIGNATURE_DOES_NOT_MATCH(403, "SignatureDoesNotMatch"),
  VALIDATION_ERROR(400, "ValidationError");

  private final int status;
  private final String code;

  QueryError(int status, String code) {
    this.status = status;
    this.code = code;
  }

  public int status() {
    return status;
  }

  public String code() {
    return code;
  }

  /** Whose fault it is, as the error document says. */
  String type() {
    return status < 500 ? "Sender" : "Receiver";
  }
}
