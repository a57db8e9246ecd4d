package dev.ashlar.gateway.error;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * Every error Ashlar answers, with S3's code, status and message ("Error responses", Amazon S3 API
 * Reference). Some have one code in S3, and several in other services.
 */
public enum S3Error {
  ACCESS_CONTROL_LIST_NOT_SUPPORTED(400, "The bucket does not allow ACLs"),
  ACCESS_DENIED(403, "Access Denied"),
  ACCESS_FORBIDDEN(403, "CORSResponse: CORS is not enabled for this bucket."),
  AUTHORIZATION_HEADER_MALFORMED(400, "The authorization header that you provided is not valid."),
  AUTHORIZATION_QUERY_PARAMETERS_ERROR(
      400, "The authorization query parameters that you provided are not valid."),
  BAD_DIGEST(
      400,
      "The Content-MD5 or checksum value that you specified did not match what the server received."),
  BAD_REQUEST(400, "An error occurred when parsing the HTTP request."),
  BUCKET_ALREADY_EXISTS(
      409,
      "The requested bucket name is not available. The bucket namespace is shared by all users of the system. Please select a different name and try again."),
  BUCKET_ALREADY_OWNED_BY_YOU(
      409, "Your previous request to create the named bucket succeeded and you already own it."),
  BUCKET_NOT_EMPTY(409, "The bucket you tried to delete is not empty"),
  CLOSED_TARGET_BUCKET_FOR_LOGGING(
      400, "InvalidTargetBucketForLogging", "The target bucket does not permit log delivery."),
  CONCURRENT_UPDATES_PATCH_CONFLICT(
      409, "The object was changed by other requests at the same time. Please try again."),
  CONDITIONAL_REQUEST_CONFLICT(
      409,
      "The conditional request cannot succeed due to a conflicting operation against this resource."),
  ENTITY_TOO_LARGE(400, "Your proposed upload exceeds the maximum allowed size"),
  ENTITY_TOO_SMALL(400, "Your proposed upload is smaller than the minimum allowed size"),
  EXPIRED_TOKEN(400, "The provided token has expired."),
  IDEMPOTENCY_PARAMETER_MISMATCH(
      400,
      "Parameters on this idempotent request are inconsistent with parameters used in previous request(s)."),
  ILLEGAL_VERSIONING_CONFIGURATION(
      400,
      "IllegalVersioningConfigurationException",
      "The versioning configuration specified in the request is invalid."),
  INCORRECT_NUMBER_OF_FILES_IN_POST_REQUEST(
      400, "POST requires exactly one file upload per request."),
  INCOMPLETE_BODY(
      400, "You did not provide the number of bytes specified by the Content-Length HTTP header."),
  INTERNAL_ERROR(500, "We encountered an internal error. Please try again."),
  INVALID_ACCESS_KEY_ID(403, "The AWS Access Key Id you provided does not exist in our records."),
  INVALID_ARGUMENT(400, "Invalid Argument"),
  INVALID_BUCKET_ACL_WITH_OBJECT_OWNERSHIP(
      400, "Bucket cannot have ACLs set with ObjectOwnership's BucketOwnerEnforced setting"),
  INVALID_BUCKET_NAME(400, "The specified bucket is not valid."),
  INVALID_BUCKET_STATE(409, "The request is not valid with the current state of the bucket."),
  INVALID_CHUNK_SIZE_ERROR(
      403, "Only the last chunk is allowed to have a size less than 8192 bytes"),
  INVALID_COPY_RANGE(400, "InvalidArgument", "The range is not one of the source object."),
  INVALID_DIGEST(400, "The Content-MD5 or checksum value that you specified is not valid."),
  INVALID_ENCRYPTION_ALGORITHM_ERROR(
      400, "The encryption request you specified is not valid. The valid value is AES256."),
  INVALID_LOCATION_CONSTRAINT(400, "The specified location-constraint is not valid"),
  INVALID_PART(
      400,
      "One or more of the specified parts could not be found. The part may not have been uploaded, or the specified entity tag may not match the part's entity tag."),
  INVALID_PART_NUMBER(416, "The requested partnumber is not satisfiable"),
  INVALID_PART_ORDER(
      400, "The list of parts was not in ascending order. Parts must be ordered by part number."),
  INVALID_POLICY_DOCUMENT(
      400,
      "The content of the form does not meet the conditions specified in the policy document."),
  INVALID_RANGE(416, "The requested range is not satisfiable"),
  INVALID_REDIRECT_LOCATION(400, "The website redirect location is not valid."),
  INVALID_REQUEST(400, "Invalid Request"),
  INVALID_RETENTION_PERIOD(400, "The retention period is not valid."),
  INVALID_STORAGE_CLASS(400, "The storage class you specified is not valid"),
  INVALID_TAG(400, "The tag provided was not a valid tag."),
  INVALID_TARGET_BUCKET_FOR_LOGGING(
      400, "The target bucket for logging does not exist, or logs cannot be delivered into it."),
  INVALID_TOKEN(400, "The provided token is malformed or otherwise invalid."),
  INVALID_URI(400, "InvalidURI", "Couldn't parse the specified URI."),
  INVALID_URL_LIFETIME(
      400, "AuthorizationQueryParametersError", "The lifetime of the presigned URL is not valid."),
  INVALID_WRITE_OFFSET(
      400, "The write offset value that you specified does not match the current object size."),
  KEY_TOO_LONG(400, "KeyTooLongError", "Your key is too long"),
  KMS_NOT_FOUND(400, "KMS.NotFoundException", "Invalid keyId"),
  MALFORMED_ACL_ERROR(
      400,
      "MalformedACLError",
      "The XML you provided was not well-formed or did not validate against our published schema"),
  MALFORMED_CHECKSUM(400, "InvalidRequest", "The checksum is not one of its algorithm."),
  MALFORMED_POLICY(400, "Policy has invalid resource"),
  MALFORMED_POST_REQUEST(
      400,
      "MalformedPOSTRequest",
      "The body of your POST request is not well-formed multipart/form-data."),
  MALFORMED_TRAILER_ERROR(
      400,
      "The request contained trailing data that was not well-formed or did not conform to our published schema."),
  MALFORMED_XML(
      400,
      "MalformedXML",
      "The XML you provided was not well-formed or did not validate against our published schema."),
  MAX_MESSAGE_LENGTH_EXCEEDED(400, "Your request was too big."),
  MAX_POST_PRE_DATA_LENGTH_EXCEEDED(
      400, "Your POST request fields preceding the upload file were too large."),
  METADATA_TOO_LARGE(400, "Your metadata headers exceed the maximum allowed metadata size"),
  METHOD_NOT_ALLOWED(405, "The specified method is not allowed against this resource."),
  MISSING_CONTENT_LENGTH(411, "You must provide the Content-Length HTTP header."),
  MISSING_CONTENT_RANGE(400, "You must provide the Content-Range HTTP header."),
  MISSING_TARGET_BUCKET_FOR_LOGGING(
      400, "InvalidTargetBucketForLogging", "The target bucket for logging does not exist"),
  NO_SUCH_BUCKET(404, "The specified bucket does not exist"),
  NO_SUCH_BUCKET_POLICY(404, "The bucket policy does not exist"),
  NO_SUCH_CORS_CONFIGURATION(
      404, "NoSuchCORSConfiguration", "The CORS configuration does not exist"),
  NO_SUCH_KEY(404, "The specified key does not exist."),
  NO_SUCH_LIFECYCLE_CONFIGURATION(404, "The lifecycle configuration does not exist"),
  NO_SUCH_OBJECT_LOCK_CONFIGURATION(
      404, "The specified object does not have a ObjectLock configuration"),
  NO_SUCH_PUBLIC_ACCESS_BLOCK_CONFIGURATION(
      404, "The public access block configuration was not found"),
  NO_SUCH_TAG_SET(404, "The TagSet does not exist"),
  NO_SUCH_UPLOAD(
      404,
      "The specified upload does not exist. The upload ID may be invalid, or the upload may have been aborted or completed."),
  NO_SUCH_VERSION(404, "The specified version does not exist."),
  NO_SUCH_WEBSITE_CONFIGURATION(404, "The specified bucket does not have a website configuration"),
  NOT_IMPLEMENTED(
      501, "A header or operation you provided implies functionality that is not implemented."),
  OBJECT_LOCK_CONFIGURATION_NOT_FOUND(
      404,
      "ObjectLockConfigurationNotFoundError",
      "Object Lock configuration does not exist for this bucket"),
  OWNERSHIP_CONTROLS_NOT_FOUND(
      404, "OwnershipControlsNotFoundError", "The bucket ownership controls were not found"),
  POSITION_NOT_EQUAL_TO_LENGTH(
      409, "The position that you specified is not the length of the object."),
  PRECONDITION_FAILED(412, "At least one of the pre-conditions you specified did not hold"),
  REPLICATION_CONFIGURATION_NOT_FOUND(
      404, "ReplicationConfigurationNotFoundError", "The replication configuration was not found"),
  QUOTA_EXCEEDED(403, "The quota of the bucket or of its account does not permit it."),
  REQUEST_HEADER_SECTION_TOO_LARGE(400, "Your request headers exceeded the maximum allowed size."),
  REQUEST_TIMEOUT(
      400,
      "Your socket connection to the server was not read from or written to within the timeout period."),
  REQUEST_TIME_TOO_SKEWED(
      403, "The difference between the request time and the server's time is too large."),
  SERVER_SIDE_ENCRYPTION_CONFIGURATION_NOT_FOUND(
      404,
      "ServerSideEncryptionConfigurationNotFoundError",
      "The server side encryption configuration was not found"),
  SERVICE_UNAVAILABLE(503, "Service is unable to handle request."),
  SIGNATURE_DOES_NOT_MATCH(
      403,
      "The request signature we calculated does not match the signature you provided. Check your key and signing method."),
  SLOW_DOWN(503, "Please reduce your request rate."),
  TORRENTS_RETIRED(
      501,
      "NotImplemented",
      "A header or operation you provided implies functionality that is not implemented."),
  TOO_MANY_BUCKETS(400, "You have attempted to create more buckets than allowed"),
  UNRESOLVABLE_GRANT_BY_EMAIL_ADDRESS(
      400, "The e-mail address you provided does not match any account on record."),
  X_AMZ_CONTENT_SHA256_MISMATCH(
      400,
      "XAmzContentSHA256Mismatch",
      "The provided 'x-amz-content-sha256' header does not match what was computed.");

  private final int status;
  private final String code;
  private final String message;

  /** An error whose code is its name in S3's spelling. */
  S3Error(int status, String message) {
    this.status = status;
    this.code =
        Arrays.stream(name().split("_", -1))
            .map(word -> word.charAt(0) + word.substring(1).toLowerCase(Locale.ROOT))
            .collect(Collectors.joining());
    this.message = message;
  }

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
