package dev.ashlar.gateway.s3;

import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.s3.RequestTarget.Scope;
import dev.ashlar.gateway.uri.Query;
import dev.ashlar.gateway.xml.XmlWriter;
import java.nio.charset.StandardCharsets;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The query parameters that make a request another operation than the plain one on its bucket or
 * object, with the methods that they have in S3 and those of them that Ashlar serves.
 *
 * <p>A request with such a parameter is never taken for the plain operation: that would, say,
 * replace an object by the document that was to configure it. Parameters that are not listed here
 * are ignored, as in S3.
 */
public enum Subresource {
  // Served.
  BUCKET_ACL("acl", Scope.BUCKET, "GET PUT", Kind.SERVED),
  OBJECT_ACL("acl", Scope.OBJECT, "GET PUT", Kind.SERVED),
  APPEND("append", Scope.OBJECT, "PUT POST", Kind.SERVED),
  ATTRIBUTES("attributes", Scope.OBJECT, "GET", Kind.SERVED),
  DELETE("delete", Scope.BUCKET, "POST", Kind.SERVED),
  LIST_TYPE("list-type", Scope.BUCKET, "GET", Kind.SERVED),
  LOCATION("location", Scope.BUCKET, "GET", Kind.SERVED),
  LIST_UPLOADS("uploads", Scope.BUCKET, "GET", Kind.SERVED),
  CREATE_UPLOAD("uploads", Scope.OBJECT, "POST", Kind.SERVED),
  UPLOAD_ID("uploadId", Scope.OBJECT, "GET PUT POST DELETE", Kind.SERVED),
  VERSIONS("versions", Scope.BUCKET, "GET", Kind.SERVED),
  // Parameters of an operation that another parameter or the method has chosen.
  PART_NUMBER("partNumber", Scope.OBJECT, "GET HEAD PUT", Kind.DETAIL),
  VERSION_ID("versionId", Scope.OBJECT, "GET HEAD PUT POST PATCH DELETE", Kind.DETAIL),
  // Reading them is answered as S3 answers where they were never configured.
  ACCELERATE(
      "accelerate",
      Scope.BUCKET,
      "GET PUT",
      "s3:GetAccelerateConfiguration",
      empty("AccelerateConfiguration")),
  CORS(
      "cors",
      Scope.BUCKET,
      "GET PUT DELETE",
      "s3:GetBucketCORS",
      S3Error.NO_SUCH_CORS_CONFIGURATION),
  BUCKET_ENCRYPTION(
      "encryption",
      Scope.BUCKET,
      "GET PUT DELETE",
      "s3:GetEncryptionConfiguration",
      S3Error.SERVER_SIDE_ENCRYPTION_CONFIGURATION_NOT_FOUND),
  LIFECYCLE(
      "lifecycle",
      Scope.BUCKET,
      "GET PUT DELETE",
      "s3:GetLifecycleConfiguration",
      S3Error.NO_SUCH_LIFECYCLE_CONFIGURATION),
  LOGGING("logging", Scope.BUCKET, "GET PUT", "s3:GetBucketLogging", empty("BucketLoggingStatus")),
  NOTIFICATION(
      "notification",
      Scope.BUCKET,
      "GET PUT",
      "s3:GetBucketNotification",
      empty("NotificationConfiguration")),
  OBJECT_LOCK(
      "object-lock",
      Scope.BUCKET,
      "GET PUT",
      "s3:GetBucketObjectLockConfiguration",
      S3Error.OBJECT_LOCK_CONFIGURATION_NOT_FOUND),
  OWNERSHIP_CONTROLS(
      "ownershipControls",
      Scope.BUCKET,
      "GET PUT DELETE",
      "s3:GetBucketOwnershipControls",
      S3Error.OWNERSHIP_CONTROLS_NOT_FOUND),
  POLICY(
      "policy",
      Scope.BUCKET,
      "GET PUT DELETE",
      "s3:GetBucketPolicy",
      S3Error.NO_SUCH_BUCKET_POLICY),
  POLICY_STATUS(
      "policyStatus",
      Scope.BUCKET,
      "GET",
      "s3:GetBucketPolicyStatus",
      S3Error.NO_SUCH_BUCKET_POLICY),
  PUBLIC_ACCESS_BLOCK(
      "publicAccessBlock",
      Scope.BUCKET,
      "GET PUT DELETE",
      "s3:GetBucketPublicAccessBlock",
      S3Error.NO_SUCH_PUBLIC_ACCESS_BLOCK_CONFIGURATION),
  REPLICATION(
      "replication",
      Scope.BUCKET,
      "GET PUT DELETE",
      "s3:GetReplicationConfiguration",
      S3Error.REPLICATION_CONFIGURATION_NOT_FOUND),
  REQUEST_PAYMENT(
      "requestPayment",
      Scope.BUCKET,
      "GET PUT",
      "s3:GetBucketRequestPayment",
      new XmlWriter()
          .openRoot("RequestPaymentConfiguration")
          .element("Payer", "BucketOwner")
          .close()
          .toText()),
  BUCKET_TAGGING(
      "tagging", Scope.BUCKET, "GET PUT DELETE", "s3:GetBucketTagging", S3Error.NO_SUCH_TAG_SET),
  VERSIONING(
      "versioning",
      Scope.BUCKET,
      "GET PUT",
      "s3:GetBucketVersioning",
      empty("VersioningConfiguration")),
  WEBSITE(
      "website",
      Scope.BUCKET,
      "GET PUT DELETE",
      "s3:GetBucketWebsite",
      S3Error.NO_SUCH_WEBSITE_CONFIGURATION),
  LEGAL_HOLD(
      "legal-hold", Scope.OBJECT, "GET PUT", "s3:GetObjectLegalHold", S3Error.INVALID_REQUEST),
  RETENTION("retention", Scope.OBJECT, "GET PUT", "s3:GetObjectRetention", S3Error.INVALID_REQUEST),
  OBJECT_TAGGING(
      "tagging",
      Scope.OBJECT,
      "GET PUT DELETE",
      "s3:GetObjectTagging",
      new XmlWriter().openRoot("Tagging").open("TagSet").close().close().toText()),
  // S3 lists or returns these by id, which is part of the feature: nothing truthful to answer.
  ABAC("abac", Scope.BUCKET, "GET PUT", Kind.NOT_IMPLEMENTED),
  ANALYTICS("analytics", Scope.BUCKET, "GET PUT DELETE", Kind.NOT_IMPLEMENTED),
  INTELLIGENT_TIERING("intelligent-tiering", Scope.BUCKET, "GET PUT DELETE", Kind.NOT_IMPLEMENTED),
  INVENTORY("inventory", Scope.BUCKET, "GET PUT DELETE", Kind.NOT_IMPLEMENTED),
  METADATA_CONFIGURATION(
      "metadataConfiguration", Scope.BUCKET, "GET POST DELETE", Kind.NOT_IMPLEMENTED),
  METADATA_TABLE("metadataTable", Scope.BUCKET, "GET POST DELETE", Kind.NOT_IMPLEMENTED),
  METADATA_ANNOTATIONS("metadataAnnotationTable", Scope.BUCKET, "PUT", Kind.NOT_IMPLEMENTED),
  METADATA_INVENTORY("metadataInventoryTable", Scope.BUCKET, "PUT", Kind.NOT_IMPLEMENTED),
  METADATA_JOURNAL("metadataJournalTable", Scope.BUCKET, "PUT", Kind.NOT_IMPLEMENTED),
  METRICS("metrics", Scope.BUCKET, "GET PUT DELETE", Kind.NOT_IMPLEMENTED),
  SESSION("session", Scope.BUCKET, "GET", Kind.NOT_IMPLEMENTED),
  ANNOTATION("annotation", Scope.OBJECT, "GET PUT DELETE", Kind.NOT_IMPLEMENTED),
  OBJECT_ENCRYPTION("encryption", Scope.OBJECT, "PUT", Kind.NOT_IMPLEMENTED),
  RENAME("renameObject", Scope.OBJECT, "PUT", Kind.NOT_IMPLEMENTED),
  RESTORE("restore", Scope.OBJECT, "POST", Kind.NOT_IMPLEMENTED),
  SELECT("select", Scope.OBJECT, "POST", Kind.NOT_IMPLEMENTED),
  SELECT_TYPE("select-type", Scope.OBJECT, "POST", Kind.NOT_IMPLEMENTED),
  TORRENT("torrent", Scope.OBJECT, "GET", Kind.NOT_IMPLEMENTED),
  DIRECTORY_BUCKETS("max-directory-buckets", Scope.SERVICE, "GET", Kind.NOT_IMPLEMENTED),
  // MinIO's own.
  SERVICE_EVENTS("events", Scope.SERVICE, "GET", Kind.NOT_IMPLEMENTED),
  BUCKET_EVENTS("events", Scope.BUCKET, "GET", Kind.NOT_IMPLEMENTED),
  LAMBDA("lambdaArn", Scope.OBJECT, "GET", Kind.NOT_IMPLEMENTED),
  REPLICATION_CHECK("replication-check", Scope.BUCKET, "GET", Kind.NOT_IMPLEMENTED),
  REPLICATION_METRICS("replication-metrics", Scope.BUCKET, "GET", Kind.NOT_IMPLEMENTED),
  REPLICATION_RESET("replication-reset", Scope.BUCKET, "PUT", Kind.NOT_IMPLEMENTED),
  REPLICATION_RESET_STATUS("replication-reset-status", Scope.BUCKET, "GET", Kind.NOT_IMPLEMENTED);

  private enum Kind {
    /** Every method has an operation here. */
    SERVED,
    /** Chooses no operation. */
    DETAIL,
    /** GET is answered as never configured; the other methods are not implemented. */
    UNCONFIGURED,
    NOT_IMPLEMENTED
  }

  private static final Map<String, Map<Scope, Subresource>> BY_LOWER_CASE_NAME = byName();

  private final String parameter;
  private final Scope scope;
  private final String methods;
  private final Kind kind;
  // Of a feature that was never configured: what reading it needs, and its document or error.
  private final @Nullable String readAction;
  private final @Nullable S3Error error;
  private final @Nullable String document;

  Subresource(String parameter, Scope scope, String methods, Kind kind) {
    this(parameter, scope, methods, kind, null, null, null);
  }

  Subresource(String parameter, Scope scope, String methods, String readAction, S3Error error) {
    this(parameter, scope, methods, Kind.UNCONFIGURED, readAction, error, null);
  }

  Subresource(String parameter, Scope scope, String methods, String readAction, String document) {
    this(parameter, scope, methods, Kind.UNCONFIGURED, readAction, null, document);
  }

  Subresource(
      String parameter,
      Scope scope,
      String methods,
      Kind kind,
      @Nullable String readAction,
      @Nullable S3Error error,
      @Nullable String document) {
    this.parameter = parameter;
    this.scope = scope;
    this.methods = methods;
    this.kind = kind;
    this.readAction = readAction;
    this.error = error;
    this.document = document;
  }

  private static Map<String, Map<Scope, Subresource>> byName() {
    Map<String, Map<Scope, Subresource>> byName = new HashMap<>();
    for (Subresource subresource : values()) {
      byName
          .computeIfAbsent(
              subresource.parameter.toLowerCase(Locale.ROOT), name -> new EnumMap<>(Scope.class))
          .put(subresource.scope, subresource);
    }
    return byName;
  }

  /**
   * The operation that the query chooses; null for the plain one of the method.
   *
   * @throws S3Exception when S3 has no such operation, Ashlar does not serve it, or the query
   *     chooses several
   */
  static @Nullable Subresource find(Query query, Scope scope, String method) throws S3Exception {
    if (query.isEmpty()) {
      return null;
    }
    Subresource chosen = null;
    Set<Subresource> seen = EnumSet.noneOf(Subresource.class);
    for (int i = 0; i < query.size(); i++) {
      Subresource subresource = of(query.name(i), scope, method);
      if (subresource != null) {
        boolean isChoice = subresource.kind != Kind.DETAIL;
        if (!seen.add(subresource) || (isChoice && chosen != null)) {
          throw conflict(subresource, chosen);
        }
        chosen = isChoice ? subresource : chosen;
      }
    }
    return chosen;
  }

  /** Null for a parameter that chooses nothing. */
  private static @Nullable Subresource of(String name, Scope scope, String method)
      throws S3Exception {
    Map<Scope, Subresource> byScope = BY_LOWER_CASE_NAME.get(name.toLowerCase(Locale.ROOT));
    if (byScope == null) {
      return null;
    }
    Subresource subresource = byScope.get(scope);
    if (subresource == null || !subresource.hasMethod(method)) {
      throw S3RequestParser.methodNotAllowed(method, name.toUpperCase(Locale.ROOT));
    }
    // S3 is case-sensitive, but another spelling hardly means the plain operation.
    if (!subresource.parameter.equals(name) || !subresource.isServed(method)) {
      throw new S3Exception(S3Error.NOT_IMPLEMENTED);
    }
    return subresource;
  }

  private boolean hasMethod(String method) {
    return List.of(methods.split(" ")).contains(method);
  }

  private boolean isServed(String method) {
    return switch (kind) {
      case SERVED, DETAIL -> true;
      case UNCONFIGURED -> method.equals("GET");
      case NOT_IMPLEMENTED -> false;
    };
  }

  private static S3Exception conflict(Subresource one, @Nullable Subresource other) {
    String first = other == null ? one.parameter : other.parameter;
    return S3Exception.invalidArgument(
        "Conflicting query string parameters: " + first + ", " + one.parameter,
        "ResourceType",
        one.parameter);
  }

  /** Whether reading it is answered by {@link #read}. */
  boolean isUnconfigured() {
    return kind == Kind.UNCONFIGURED;
  }

  /** The action that reading it needs. */
  String readAction() {
    return Objects.requireNonNull(readAction);
  }

  /** What S3 answers where it was never configured: a document or an error. */
  public byte[] read() throws S3Exception {
    if (error == S3Error.INVALID_REQUEST) {
      throw new S3Exception(error, "Bucket is missing Object Lock Configuration");
    }
    if (error != null) {
      throw new S3Exception(error);
    }
    return Objects.requireNonNull(document).getBytes(StandardCharsets.UTF_8);
  }

  private static String empty(String root) {
    return new XmlWriter().openRoot(root).close().toText();
  }
}
