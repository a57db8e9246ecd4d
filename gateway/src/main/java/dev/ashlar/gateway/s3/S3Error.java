package dev.ashlar.gateway.s3;

/**
 * Every error Ashlar answers, with S3's code, status and message ("Error responses", Amazon S3 API
 * Reference).
 */
public enum S3Error {
  ACCESS_DENIED(403, "AccessDenied", "Access Denied"),
  AUTHORIZATION_HEADER_MALFORMED(
      400,
      "AuthorizationHeaderMalformed",
      "The authorization header that you provided is not valid."),
  AUTHORIZATION_QUERY_PARAMETERS_ERROR(
      400,
      "AuthorizationQueryParametersError",
      "The authorization query parameters that you provided are not valid."),
  BAD_DIGEST(
      400,
      "BadDigest",
      "The Content-MD5 or checksum value that you specified did not match what the server received."),
  BAD_REQUEST(400, "BadRequest", "An error occurred when parsing the HTTP request."),
  INTERNAL_ERROR(500, "InternalError", "We encountered an internal error. Please try again."),
  INCOMPLETE_BODY(
      400,
      "IncompleteBody",
      "You did not provide the number of bytes specified by the Content-Length HTTP header."),
  INVALID_ACCESS_KEY_ID(
      403,
      "InvalidAccessKeyId",
      "The AWS Access Key Id you provided does not exist in our records."),
  INVALID_ARGUMENT(400, "InvalidArgument", "Invalid Argument"),
  INVALID_CHUNK_SIZE_ERROR(
      403,
      "InvalidChunkSizeError",
      "Only the last chunk is allowed to have a size less than 8192 bytes"),
  INVALID_DIGEST(400, "InvalidDigest", "The Content-MD5 you specified was invalid."),
  INVALID_REQUEST(400, "InvalidRequest", "Invalid Request"),
  INVALID_TOKEN(400, "InvalidToken", "The provided token is malformed or otherwise invalid."),
  INVALID_URI(400, "InvalidURI", "Couldn't parse the specified URI."),
  MALFORMED_TRAILER_ERROR(
      400,
      "MalformedTrailerError",
      "The request contained trailing data that was not well-formed or did not conform to our published schema."),
  MALFORMED_XML(
      400,
      "MalformedXML",
      "The XML you provided was not well-formed or did not validate against our published schema."),
  METHOD_NOT_ALLOWED(
      405, "MethodNotAllowed", "The specified method is not allowed against this resource."),
  MISSING_CONTENT_LENGTH(
      411, "MissingContentLength", "You must provide the Content-Length HTTP header."),
  MISSING_SECURITY_HEADER(
      400, "MissingSecurityHeader", "Your request was missing a required header."),
  NOT_IMPLEMENTED(
      501,
      "NotImplemented",
      "A header or operation you provided implies functionality that is not implemented."),
  NO_SUCH_BUCKET(404, "NoSuchBucket", "The specified bucket does not exist"),
  NO_SUCH_KEY(404, "NoSuchKey", "The specified key does not exist."),
  REQUEST_HEADER_SECTION_TOO_LARGE(
      400,
      "RequestHeaderSectionTooLarge",
      "Your request header section exceeds the maximum allowed size."),
  REQUEST_TIMEOUT(
      400,
      "RequestTimeout",
      "Your socket connection to the server was not read from or written to within the timeout period."),
  REQUEST_TIME_TOO_SKEWED(
      403,
      "RequestTimeTooSkewed",
      "The difference between the request time and the current time is too large."),
  SERVICE_UNAVAILABLE(503, "ServiceUnavailable", "Service is unable to handle request."),
  SIGNATURE_DOES_NOT_MATCH(
      403,
      "SignatureDoesNotMatch",
      "The request signature we calculated does not match the signature you provided. Check your key and signing method."),
  SLOW_DOWN(503, "SlowDown", "Please reduce your request rate."),
  X_AMZ_CONTENT_SHA256_MISMATCH(
      400,
      "XAmzContentSHA256Mismatch",
      "The provided 'x-amz-content-sha256' header does not match what was computed.");

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
