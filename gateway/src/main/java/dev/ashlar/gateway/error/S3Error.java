package dev.ashlar.gateway.error;

/**
 * Every error Ashlar answers, with S3's code, status and message ("Error responses", Amazon S3 API
 * Reference).
 */
public enum S3Error {
  ACCESS_DENIED(403, "AccessDenied", "Access Denied"),
  ACCESS_FORBIDDEN(403, "AccessForbidden", "CORSResponse: CORS is not enabled for this bucket."),
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
  BUCKET_ALREADY_EXISTS(
      409,
      "BucketAlreadyExists",
      "The requested bucket name is not available. The bucket namespace is shared by all users of the system. Please select a different name and try again."),
  BUCKET_ALREADY_OWNED_BY_YOU(
      409,
      "BucketAlreadyOwnedByYou",
      "Your previous request to create the named bucket succeeded and you already own it."),
  BUCKET_NOT_EMPTY(409, "BucketNotEmpty", "The bucket you tried to delete is not empty"),
  CONCURRENT_UPDATES_PATCH_CONFLICT(
      409,
      "ConcurrentUpdatesPatchConflict",
      "The object was changed by other requests at the same time. Please try again."),
  CONDITIONAL_REQUEST_CONFLICT(
      409,
      "ConditionalRequestConflict",
      "The conditional request cannot succeed due to a conflicting operation against this resource."),
  ENTITY_TOO_LARGE(400, "EntityTooLarge", "Your proposed upload exceeds the maximum allowed size"),
  ENTITY_TOO_SMALL(
      400, "EntityTooSmall", "Your proposed upload is smaller than the minimum allowed size"),
  INCOMPLETE_BODY(
      400,
      "IncompleteBody",
      "You did not provide the number of bytes specified by the Content-Length HTTP header."),
  INTERNAL_ERROR(500, "InternalError", "We encountered an internal error. Please try again."),
  INVALID_ACCESS_KEY_ID(
      403,
      "InvalidAccessKeyId",
      "The AWS Access Key Id you provided does not exist in our records."),
  INVALID_ARGUMENT(400, "InvalidArgument", "Invalid Argument"),
  INVALID_BUCKET_NAME(400, "InvalidBucketName", "The specified bucket is not valid."),
  INVALID_CHUNK_SIZE_ERROR(
      403,
      "InvalidChunkSizeError",
      "Only the last chunk is allowed to have a size less than 8192 bytes"),
  INVALID_DIGEST(
      400, "InvalidDigest", "The Content-MD5 or checksum value that you specified is not valid."),
  INVALID_LOCATION_CONSTRAINT(
      400, "InvalidLocationConstraint", "The specified location-constraint is not valid"),
  INVALID_PART(
      400,
      "InvalidPart",
      "One or more of the specified parts could not be found. The part may not have been uploaded, or the specified entity tag may not match the part's entity tag."),
  INVALID_PART_NUMBER(416, "InvalidPartNumber", "The requested partnumber is not satisfiable"),
  INVALID_PART_ORDER(
      400,
      "InvalidPartOrder",
      "The list of parts was not in ascending order. Parts must be ordered by part number."),
  INVALID_RANGE(416, "InvalidRange", "The requested range is not satisfiable"),
  INVALID_REQUEST(400, "InvalidRequest", "Invalid Request"),
  INVALID_STORAGE_CLASS(400, "InvalidStorageClass", "The storage class you specified is not valid"),
  INVALID_TOKEN(400, "InvalidToken", "The provided token is malformed or otherwise invalid."),
  INVALID_URI(400, "InvalidURI", "Couldn't parse the specified URI."),
  INVALID_WRITE_OFFSET(
      400,
      "InvalidWriteOffset",
      "The write offset value that you specified does not match the current object size."),
  KEY_TOO_LONG(400, "KeyTooLongError", "Your key is too long"),
  MALFORMED_TRAILER_ERROR(
      400,
      "MalformedTrailerError",
      "The request contained trailing data that was not well-formed or did not conform to our published schema."),
  MALFORMED_XML(
      400,
      "MalformedXML",
      "The XML you provided was not well-formed or did not validate against our published schema."),
  MAX_MESSAGE_LENGTH_EXCEEDED(400, "MaxMessageLengthExceeded", "Your request was too big."),
  METADATA_TOO_LARGE(
      400, "MetadataTooLarge", "Your metadata headers exceed the maximum allowed metadata size"),
  METHOD_NOT_ALLOWED(
      405, "MethodNotAllowed", "The specified method is not allowed against this resource."),
  MISSING_CONTENT_LENGTH(
      411, "MissingContentLength", "You must provide the Content-Length HTTP header."),
  MISSING_CONTENT_RANGE(
      400, "MissingContentRange", "You must provide the Content-Range HTTP header."),
  NO_SUCH_BUCKET(404, "NoSuchBucket", "The specified bucket does not exist"),
  NO_SUCH_BUCKET_POLICY(404, "NoSuchBucketPolicy", "The bucket policy does not exist"),
  NO_SUCH_CORS_CONFIGURATION(
      404, "NoSuchCORSConfiguration", "The CORS configuration does not exist"),
  NO_SUCH_KEY(404, "NoSuchKey", "The specified key does not exist."),
  NO_SUCH_LIFECYCLE_CONFIGURATION(
      404, "NoSuchLifecycleConfiguration", "The lifecycle configuration does not exist"),
  NO_SUCH_PUBLIC_ACCESS_BLOCK_CONFIGURATION(
      404,
      "NoSuchPublicAccessBlockConfiguration",
      "The public access block configuration was not found"),
  NO_SUCH_TAG_SET(404, "NoSuchTagSet", "The TagSet does not exist"),
  NO_SUCH_UPLOAD(
      404,
      "NoSuchUpload",
      "The specified upload does not exist. The upload ID may be invalid, or the upload may have been aborted or completed."),
  NO_SUCH_VERSION(404, "NoSuchVersion", "The specified version does not exist."),
  NO_SUCH_WEBSITE_CONFIGURATION(
      404,
      "NoSuchWebsiteConfiguration",
      "The specified bucket does not have a website configuration"),
  NOT_IMPLEMENTED(
      501,
      "NotImplemented",
      "A header or operation you provided implies functionality that is not implemented."),
  OBJECT_LOCK_CONFIGURATION_NOT_FOUND(
      404,
      "ObjectLockConfigurationNotFoundError",
      "Object Lock configuration does not exist for this bucket"),
  OWNERSHIP_CONTROLS_NOT_FOUND(
      404, "OwnershipControlsNotFoundError", "The bucket ownership controls were not found"),
  POSITION_NOT_EQUAL_TO_LENGTH(
      409,
      "PositionNotEqualToLength",
      "The position that you specified is not the length of the object."),
  PRECONDITION_FAILED(
      412, "PreconditionFailed", "At least one of the pre-conditions you specified did not hold"),
  REPLICATION_CONFIGURATION_NOT_FOUND(
      404, "ReplicationConfigurationNotFoundError", "The replication configuration was not found"),
  REQUEST_HEADER_SECTION_TOO_LARGE(
      400,
      "RequestHeaderSectionTooLarge",
      "Your request headers exceeded the maximum allowed size."),
  REQUEST_TIMEOUT(
      400,
      "RequestTimeout",
      "Your socket connection to the server was not read from or written to within the timeout period."),
  REQUEST_TIME_TOO_SKEWED(
      403,
      "RequestTimeTooSkewed",
      "The difference between the request time and the server's time is too large."),
  SERVER_SIDE_ENCRYPTION_CONFIGURATION_NOT_FOUND(
      404,
      "ServerSideEncryptionConfigurationNotFoundError",
      "The server side encryption configuration was not found"),
  SERVICE_UNAVAILABLE(503, "ServiceUnavailable", "Service is unable to handle request."),
  SIGNATURE_DOES_NOT_MATCH(
      403,
      "SignatureDoesNotMatch",
      "The request signature we calculated does not match the signature you provided. Check your key and signing method."),
  SLOW_DOWN(503, "SlowDown", "Please reduce your request rate."),
  TOO_MANY_BUCKETS(400, "TooManyBuckets", "You have attempted to create more buckets than allowed"),
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

  /** Whether it is the server that cannot serve now (503): logged, and told to be tried again. */
  public boolean isUnserved() {
    return status == 503;
  }

  public String code() {
    return code;
  }

  public String message() {
    return message;
  }
}
