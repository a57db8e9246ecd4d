package dev.ashlar.gateway.s3;

/**
 * Every error Ashlar answers, with S3's code, status and message ("Error responses", Amazon S3 API
 * Reference).
 */
public enum S3Error {
  ACCESS_DENIED(403, "AccessDenied", "Access Denied"),
  BAD_DIGEST(
      400,
      "BadDigest",
      "The Content-MD5 or checksum value that you specified did not match what the server received."),
  INTERNAL_ERROR(500, "InternalError", "We encountered an internal error. Please try again."),
  INCOMPLETE_BODY(
      400,
      "IncompleteBody",
      "You did not provide the number of bytes specified by the Content-Length HTTP header."),
  INVALID_ARGUMENT(400, "InvalidArgument", "Invalid Argument"),
  INVALID_REQUEST(400, "InvalidRequest", "Invalid Request"),
  MALFORMED_XML(
      400,
      "MalformedXML",
      "The XML you provided was not well-formed or did not validate against our published schema."),
  METHOD_NOT_ALLOWED(
      405, "MethodNotAllowed", "The specified method is not allowed against this resource."),
  NOT_IMPLEMENTED(
      501,
      "NotImplemented",
      "A header or operation you provided implies functionality that is not implemented."),
  NO_SUCH_BUCKET(404, "NoSuchBucket", "The specified bucket does not exist"),
  NO_SUCH_KEY(404, "NoSuchKey", "The specified key does not exist."),
  REQUEST_TIMEOUT(
      400,
      "RequestTimeout",
      "Your socket connection to the server was not read from or written to within the timeout period."),
  SERVICE_UNAVAILABLE(503, "ServiceUnavailable", "Service is unable to handle request."),
  SLOW_DOWN(503, "SlowDown", "Please reduce your request rate.");

  private final int status;
  private final String code;
  private final String message;

  S3Error(int status, String code, String message) {
    this.status = status;
    this.code = code;
    this.message = message;
  }

  public int status() {
    return status;
  }

  public String code() {
    return code;
  }

  public String message() {
    return message;
  }
}
