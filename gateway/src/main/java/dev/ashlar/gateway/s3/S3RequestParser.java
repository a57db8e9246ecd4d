package dev.ashlar.gateway.s3;

import dev.ashlar.gateway.access.acl.AclRequest;
import dev.ashlar.gateway.access.policy.decision.ObjectOwnership;
import dev.ashlar.gateway.checksum.Checksums;
import dev.ashlar.gateway.encryption.CustomerFields;
import dev.ashlar.gateway.encryption.EncryptionFields;
import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.AmzHeaderNames;
import dev.ashlar.gateway.exchange.HttpExchange;
import dev.ashlar.gateway.form.PostForm;
import dev.ashlar.gateway.s3.S3Request.Listing;
import dev.ashlar.gateway.s3.Subresource.Unconfigured;
import dev.ashlar.gateway.uri.Query;
import dev.ashlar.gateway.version.VersionId;
import dev.ashlar.protocol.message.VersionRef;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import org.jspecify.annotations.Nullable;

/** Parses HTTP requests into S3 requests. */
public final class S3RequestParser {
  private static final String VERSION = "versionId";
  private static final String VERSION_MARKER = "version-id-marker";
  static final String SKIP_VALIDATION = "x-amz-skip-destination-validation";
  static final String CONFIRMATION = "x-amz-confirm-remove-self-bucket-access";
  private static final int PAGE_MAX = 1000;
  private static final int BUCKETS_PAGE_MAX = 10_000;

  private final S3Config config;

  public S3RequestParser(S3Config config) {
    this.config = config;
  }

  /**
   * The bucket to which a form with a file is posted; null for any other request.
   *
   * @throws S3Exception if what is asked for beside the form is not served
   */
  public @Nullable String bucketOfForm(HttpExchange exchange) throws S3Exception {
    HttpHeaders sent = exchange.headers();
    if (!exchange.method().equals("POST")
        || !PostForm.isType(sent.get(HttpHeaderNames.CONTENT_TYPE, ""))) {
      return null;
    }
    RequestTarget target = RequestTarget.of(exchange, config);
    Query query = Query.parse(exchange.rawQuery());
    if (target.scope() != RequestTarget.Scope.BUCKET || query.has("delete")) {
      return null;
    }
    Subresource.check(query, target.scope(), exchange.method());
    SupportedHeaders.requireNoneBesideForm(SupportedHeaders.joined(sent, query));
    if (sent.contains(HttpHeaderNames.AUTHORIZATION) || isSigned(query)) {
      throw S3Exception.invalidRequest("A form is signed by its fields only.");
    }
    RequestHeaders.requireContentLength(sent);
    // The file itself is measured while it arrives.
    long fileBytesMin = exchange.body().length() - 2 * PostForm.FIELD_BYTES_MAX;
    SizeLimits.requireUploadable(Math.max(0, fileBytesMin));
    return target.bucket();
  }

  private static boolean isSigned(Query query) {
    return query.has("X-Amz-Algorithm")
        || query.has("X-Amz-Signature")
        || query.has("X-Amz-Credential")
        || query.has("AWSAccessKeyId");
  }

  public S3Request parse(HttpExchange exchange) throws S3Exception {
    if (exchange instanceof PostForm form) {
      return FormRequests.parse(form);
    }
    Query query = Query.parse(exchange.rawQuery());
    HttpHeaders headers = SupportedHeaders.joined(exchange.headers(), query);
    S3Request request = operation(exchange, query, headers);
    boolean isAppend = request instanceof S3Request.AppendObject;
    if (!isAppend && headers.contains(AmzHeaderNames.WRITE_OFFSET)) {
      throw S3Exception.unsupportedHeader(ObjectRequestParser.WRITE_OFFSET);
    }
    if (!(request instanceof S3Request.VersionRequest)) {
      NewFacts.requireAbsent(headers);
      if (headers.contains(RedirectLocation.HEADER)) {
        throw S3Exception.unsupportedHeader(RedirectLocation.HEADER);
      }
    }
    requireHeededEncryption(request, headers);
    if (!(request instanceof S3Request.DeleteObject)) {
      DeleteConditions.requireAbsent(headers);
    }
    boolean mayLock = request instanceof S3Request.CreateBucket;
    if (!mayLock && LockRequests.asksForLock(headers)) {
      throw S3Exception.unsupportedHeader(LockRequests.LOCK_BUCKET);
    }
    if (!S3Request.mayBypassGovernance(request) && LockRequests.asksForBypass(headers)) {
      throw LockRequests.bypassWithoutLock();
    }
    if (!(request instanceof S3Request.OfVersion) && query.has(VERSION)) {
      throw S3Exception.invalidArgument(
          "This operation does not accept a version-id.", VERSION, query.get(VERSION, ""));
    }
    return request;
  }

  /** Parts are encrypted as their upload is, whatever else their headers say. */
  private static void requireHeededEncryption(S3Request request, HttpHeaders headers)
      throws S3Exception {
    boolean isWrite =
        request instanceof S3Request.VersionRequest || request instanceof S3Request.AppendObject;
    boolean isOfUpload = request instanceof S3Request.UploadRequest;
    if (!isWrite && !isOfUpload) {
      EncryptionFields.requireAbsent(headers);
    }
    boolean isRead =
        request instanceof S3Request.GetObject
            || request instanceof S3Request.HeadObject
            || request instanceof S3Request.GetObjectAttributes
            || request instanceof S3Request.PatchObject;
    boolean isCopy =
        request instanceof S3Request.CopyObject || request instanceof S3Request.UploadPartCopy;
    CustomerFields.requireHeeded(headers, isWrite || isOfUpload || isRead, isCopy);
  }

  private S3Request operation(HttpExchange exchange, Query query, HttpHeaders headers)
      throws S3Exception {
    RequestTarget target = RequestTarget.of(exchange, config);
    SupportedHeaders.require(exchange.method(), headers, query.has("renameObject"));
    Unconfigured feature = Subresource.check(query, target.scope(), exchange.method());
    if (target.bucket() == null) {
      return service(exchange.method(), query);
    }
    String bucket = target.bucket();
    String key = target.key();
    VersionRef version = VersionId.parse(VERSION, query.get(VERSION));
    if (feature != null) {
      return new S3Request.GetUnconfigured(bucket, key, version, feature);
    }
    if (query.has("tagging")) {
      return TaggingRequests.of(exchange.method(), bucket, key, version);
    }
    if (query.has("encryption")) {
      return encryption(exchange.method(), bucket, key, version);
    }
    if (key == null && query.has("cors")) {
      return cors(exchange.method(), bucket, headers);
    }
    if (query.has("lifecycle")) {
      return LifecycleRequests.of(exchange.method(), bucket, headers);
    }
    if (query.has("acl")) {
      return acl(exchange.method(), bucket, key, version, headers);
    }
    S3Request ofLock = LockRequests.of(exchange.method(), bucket, key, version, query, headers);
    if (ofLock != null) {
      return ofLock;
    }
    if (key != null && query.has("renameObject")) {
      return RenameRequests.parse(bucket, key, headers);
    }
    return key == null
        ? bucket(exchange.method(), bucket, query, headers)
        : new ObjectRequestParser(config.answers(), bucket, key, version, query, headers)
            .parse(exchange.method());
  }

  private static S3Request encryption(
      String method, String bucket, @Nullable String key, @Nullable VersionRef version) {
    if (key != null) {
      return new S3Request.UpdateObjectEncryption(bucket, key, version);
    }
    return switch (method) {
      case "GET" -> new S3Request.GetBucketEncryption(bucket);
      case "PUT" -> new S3Request.PutBucketEncryption(bucket);
      default -> new S3Request.DeleteBucketEncryption(bucket);
    };
  }

  private static S3Request cors(String method, String bucket, HttpHeaders headers) {
    return switch (method) {
      case "GET" -> new S3Request.GetBucketCors(bucket);
      case "PUT" -> new S3Request.PutBucketCors(bucket, Checksums.hasDigest(headers));
      default -> new S3Request.DeleteBucketCors(bucket);
    };
  }

  private static S3Request service(String method, Query query) throws S3Exception {
    if (!method.equals("GET")) {
      throw methodNotAllowed(method, "SERVICE");
    }
    return new S3Request.ListBuckets(
        query.get("prefix", ""),
        query.get("bucket-region", ""),
        query.get("continuation-token", ""),
        maxBuckets(query.get("max-buckets", "")));
  }

  private static int maxBuckets(String text) throws S3Exception {
    long max = text.isEmpty() ? BUCKETS_PAGE_MAX : Query.integer(text, 1, BUCKETS_PAGE_MAX);
    if (max < 0) {
      throw S3Exception.invalidArgument(
          "Argument max-buckets must be an integer between 1 and " + BUCKETS_PAGE_MAX,
          "max-buckets",
          text);
    }
    return (int) max;
  }

  private static S3Request acl(
      String method,
      String bucket,
      @Nullable String key,
      @Nullable VersionRef version,
      HttpHeaders headers)
      throws S3Exception {
    if (method.equals("GET")) {
      return new S3Request.GetAcl(bucket, key, version);
    }
    AclRequest acl = AclHeaders.parse(headers);
    if (acl.isGiven() && hasBody(headers)) {
      throw S3Exception.invalidRequest("Specify the ACL in headers or in the body, not in both.");
    }
    return new S3Request.PutAcl(bucket, key, version, acl);
  }

  /** Null unless the query names a document that decides about access. */
  private static S3Request.@Nullable BucketAccessRequest bucketAccess(
      String method, String bucket, Query query, HttpHeaders headers) {
    if (query.isEmpty()) {
      return null;
    }
    if (query.has("policy")) {
      return switch (method) {
        case "GET" -> new S3Request.GetBucketPolicy(bucket);
        case "PUT" ->
            new S3Request.PutBucketPolicy(
                bucket, "true".equalsIgnoreCase(headers.get(CONFIRMATION)));
        default -> new S3Request.DeleteBucketPolicy(bucket);
      };
    }
    if (query.has("policyStatus")) {
      return new S3Request.GetBucketPolicyStatus(bucket);
    }
    if (query.has("publicAccessBlock")) {
      return switch (method) {
        case "GET" -> new S3Request.GetPublicAccessBlock(bucket);
        case "PUT" -> new S3Request.PutPublicAccessBlock(bucket);
        default -> new S3Request.DeletePublicAccessBlock(bucket);
      };
    }
    if (query.has("ownershipControls")) {
      return switch (method) {
        case "GET" -> new S3Request.GetBucketOwnershipControls(bucket);
        case "PUT" -> new S3Request.PutBucketOwnershipControls(bucket);
        default -> new S3Request.DeleteBucketOwnershipControls(bucket);
      };
    }
    return null;
  }

  private static S3Request createBucket(String bucket, HttpHeaders headers) throws S3Exception {
    String name = headers.get("x-amz-object-ownership");
    ObjectOwnership ownership = null;
    if (name != null) {
      ownership =
          ObjectOwnership.named(name)
              .orElseThrow(
                  () ->
                      S3Exception.invalidArgument(
                          "Invalid x-amz-object-ownership header: " + name,
                          "x-amz-object-ownership",
                          name));
    }
    return new S3Request.CreateBucket(
        bucket, LockRequests.asksForLock(headers), AclHeaders.parse(headers), ownership);
  }

  private static boolean hasBody(HttpHeaders headers) {
    if (headers.contains(HttpHeaderNames.TRANSFER_ENCODING)) {
      return true;
    }
    String length =
        headers.get(
            AmzHeaderNames.DECODED_CONTENT_LENGTH,
            headers.get(HttpHeaderNames.CONTENT_LENGTH, "0"));
    return !length.trim().equals("0");
  }

  private static S3Request bucket(String method, String bucket, Query query, HttpHeaders headers)
      throws S3Exception {
    S3Request access = bucketAccess(method, bucket, query, headers);
    if (access != null) {
      return access;
    }
    if (query.has("logging")) {
      return method.equals("GET")
          ? new S3Request.GetBucketLogging(bucket)
          : new S3Request.PutBucketLogging(bucket);
    }
    if (query.has("notification")) {
      return method.equals("GET")
          ? new S3Request.GetBucketNotificationConfiguration(bucket)
          : new S3Request.PutBucketNotificationConfiguration(
              bucket, !"true".equalsIgnoreCase(headers.get(SKIP_VALIDATION)));
    }
    if (query.has("requestPayment")) {
      return method.equals("GET")
          ? new S3Request.GetBucketRequestPayment(bucket)
          : new S3Request.PutBucketRequestPayment(bucket);
    }
    if (query.has("website")) {
      return switch (method) {
        case "GET" -> new S3Request.GetBucketWebsite(bucket);
        case "PUT" -> new S3Request.PutBucketWebsite(bucket);
        default -> new S3Request.DeleteBucketWebsite(bucket);
      };
    }
    return switch (method) {
      case "GET" -> getBucket(bucket, query);
      case "HEAD" -> new S3Request.HeadBucket(bucket);
      case "PUT" ->
          query.has("versioning")
              ? new S3Request.PutBucketVersioning(bucket)
              : createBucket(bucket, headers);
      case "DELETE" -> new S3Request.DeleteBucket(bucket);
      case "POST" -> postBucket(bucket, query, headers);
      default -> throw methodNotAllowed(method, "BUCKET");
    };
  }

  private static S3Request getBucket(String bucket, Query query) throws S3Exception {
    if (query.has("location")) {
      return new S3Request.GetBucketLocation(bucket);
    }
    if (query.has("versioning")) {
      return new S3Request.GetBucketVersioning(bucket);
    }
    if (query.has("uploads")) {
      return new S3Request.ListMultipartUploads(
          listing(bucket, query, "max-uploads"),
          query.get("key-marker", ""),
          query.get("upload-id-marker", ""));
    }
    if (query.has("versions")) {
      return versions(bucket, query);
    }
    Listing listing = listing(bucket, query, "max-keys");
    if (!"2".equals(query.get("list-type"))) {
      return new S3Request.ListObjects(listing, query.get("marker", ""));
    }
    return new S3Request.ListObjectsV2(
        listing,
        query.get("start-after", ""),
        query.get("continuation-token"),
        query.get("fetch-owner", "").equals("true"));
  }

  private static S3Request versions(String bucket, Query query) throws S3Exception {
    String keyMarker = query.get("key-marker", "");
    String versionIdMarker = query.get(VERSION_MARKER, "");
    if (keyMarker.isEmpty() && !versionIdMarker.isEmpty()) {
      throw S3Exception.invalidArgument(
          "A version-id marker cannot be specified without a key marker.",
          VERSION_MARKER,
          versionIdMarker);
    }
    return new S3Request.ListObjectVersions(
        listing(bucket, query, "max-keys"),
        keyMarker,
        versionIdMarker,
        versionIdMarker.isEmpty() ? null : VersionId.parse(VERSION_MARKER, versionIdMarker));
  }

  private static Listing listing(String bucket, Query query, String maxName) throws S3Exception {
    return new Listing(
        bucket,
        query.get("prefix", ""),
        query.get("delimiter", ""),
        query.count(maxName, PAGE_MAX),
        urlEncoding(query));
  }

  static boolean urlEncoding(Query query) throws S3Exception {
    String encoding = query.get("encoding-type", "");
    if (encoding.isEmpty()) {
      return false;
    }
    if (!encoding.equals("url")) {
      throw S3Exception.invalidArgument(
          "Invalid Encoding Method specified in Request", "encoding-type", encoding);
    }
    return true;
  }

  private static S3Request postBucket(String bucket, Query query, HttpHeaders headers)
      throws S3Exception {
    if (query.has("delete")) {
      return new S3Request.DeleteObjects(
          bucket, Checksums.hasDigest(headers), LockRequests.asksForBypass(headers));
    }
    throw methodNotAllowed("POST", "BUCKET");
  }

  static S3Exception methodNotAllowed(String method, String resourceType) {
    return new S3Exception(S3Error.METHOD_NOT_ALLOWED)
        .with("Method", method)
        .with("ResourceType", resourceType);
  }
}
