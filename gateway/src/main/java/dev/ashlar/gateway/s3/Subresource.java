package dev.ashlar.gateway.s3;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Features of buckets and objects that Ashlar does not have. Reading one is answered as S3 answers
 * where it was never configured; changing one is NotImplemented.
 */
public enum Subresource {
  ACCELERATE("accelerate", Scope.BUCKET, empty("AccelerateConfiguration")),
  CORS("cors", Scope.BUCKET, S3Error.NO_SUCH_CORS_CONFIGURATION),
  ENCRYPTION("encryption", Scope.BUCKET, S3Error.SERVER_SIDE_ENCRYPTION_CONFIGURATION_NOT_FOUND),
  LIFECYCLE("lifecycle", Scope.BUCKET, S3Error.NO_SUCH_LIFECYCLE_CONFIGURATION),
  LOGGING("logging", Scope.BUCKET, empty("BucketLoggingStatus")),
  NOTIFICATION("notification", Scope.BUCKET, empty("NotificationConfiguration")),
  OBJECT_LOCK("object-lock", Scope.BUCKET, S3Error.OBJECT_LOCK_CONFIGURATION_NOT_FOUND),
  OWNERSHIP_CONTROLS("ownershipControls", Scope.BUCKET, S3Error.OWNERSHIP_CONTROLS_NOT_FOUND),
  POLICY("policy", Scope.BUCKET, S3Error.NO_SUCH_BUCKET_POLICY),
  POLICY_STATUS("policyStatus", Scope.BUCKET, S3Error.NO_SUCH_BUCKET_POLICY),
  PUBLIC_ACCESS_BLOCK(
      "publicAccessBlock", Scope.BUCKET, S3Error.NO_SUCH_PUBLIC_ACCESS_BLOCK_CONFIGURATION),
  REPLICATION("replication", Scope.BUCKET, S3Error.REPLICATION_CONFIGURATION_NOT_FOUND),
  REQUEST_PAYMENT(
      "requestPayment",
      Scope.BUCKET,
      new XmlWriter()
          .openRoot("RequestPaymentConfiguration")
          .element("Payer", "BucketOwner")
          .close()
          .toText()),
  BUCKET_TAGGING("tagging", Scope.BUCKET, S3Error.NO_SUCH_TAG_SET),
  VERSIONING("versioning", Scope.BUCKET, empty("VersioningConfiguration")),
  WEBSITE("website", Scope.BUCKET, S3Error.NO_SUCH_WEBSITE_CONFIGURATION),
  LEGAL_HOLD("legal-hold", Scope.OBJECT, S3Error.INVALID_REQUEST),
  RETENTION("retention", Scope.OBJECT, S3Error.INVALID_REQUEST),
  OBJECT_TAGGING(
      "tagging",
      Scope.OBJECT,
      new XmlWriter().openRoot("Tagging").open("TagSet").close().close().toText()),
  // S3 lists or returns these by id, which is part of the feature: nothing truthful to answer.
  ANALYTICS("analytics", Scope.BUCKET),
  INTELLIGENT_TIERING("intelligent-tiering", Scope.BUCKET),
  INVENTORY("inventory", Scope.BUCKET),
  METADATA_CONFIGURATION("metadataConfiguration", Scope.BUCKET),
  METADATA_TABLE("metadataTable", Scope.BUCKET),
  METRICS("metrics", Scope.BUCKET),
  SESSION("session", Scope.BUCKET),
  RENAME("renameObject", Scope.OBJECT),
  RESTORE("restore", Scope.OBJECT),
  SELECT("select", Scope.OBJECT),
  TORRENT("torrent", Scope.OBJECT);

  private enum Scope {
    BUCKET,
    OBJECT
  }

  private final String parameter;
  private final Scope scope;
  private final @Nullable S3Error error;
  private final @Nullable String document;

  Subresource(String parameter, Scope scope) {
    this(parameter, scope, S3Error.NOT_IMPLEMENTED);
  }

  Subresource(String parameter, Scope scope, S3Error error) {
    this.parameter = parameter;
    this.scope = scope;
    this.error = error;
    this.document = null;
  }

  Subresource(String parameter, Scope scope, String document) {
    this.parameter = parameter;
    this.scope = scope;
    this.error = null;
    this.document = document;
  }

  /** The feature that a request is about, or null. */
  static @Nullable Subresource find(Query query, boolean ofObject) {
    if (query.isEmpty()) {
      return null;
    }
    Scope scope = ofObject ? Scope.OBJECT : Scope.BUCKET;
    for (Subresource subresource : values()) {
      if (subresource.scope == scope && query.has(subresource.parameter)) {
        return subresource;
      }
    }
    return null;
  }

  /** What S3 says about it: a document or an error. */
  public byte[] read() throws S3Exception {
    if (error == S3Error.INVALID_REQUEST) {
      throw new S3Exception(error, "Bucket is missing Object Lock Configuration");
    }
    if (error != null) {
      throw new S3Exception(error);
    }
    if (document == null) {
      throw new IllegalStateException(this + " has neither document nor error");
    }
    return document.getBytes(StandardCharsets.UTF_8);
  }

  private static String empty(String root) {
    return new XmlWriter().openRoot(root).close().toText();
  }
}
