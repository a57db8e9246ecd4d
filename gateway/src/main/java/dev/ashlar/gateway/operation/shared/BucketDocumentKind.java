package dev.ashlar.gateway.operation.shared;

import dev.ashlar.gateway.lifecycle.LifecycleDocuments;

/**
 * The documents that metadata keeps for a bucket without looking into them. The numbers are a
 * format: never reuse one.
 */
public enum BucketDocumentKind {
  /** The Tagging document of S3. */
  TAGS(8),

  /** The CORSConfiguration document of S3. */
  CORS(12),

  /** The WebsiteConfiguration document of S3. */
  WEBSITE(15),

  /** The NotificationConfiguration document of S3. */
  NOTIFICATIONS(18),

  /** A LifecycleDocument. */
  LIFECYCLE(LifecycleDocuments.RULES),

  /** A LifecycleScanRow. */
  LIFECYCLE_SCAN(LifecycleDocuments.SCAN);

  private final int number;

  BucketDocumentKind(int number) {
    this.number = number;
  }

  /** From 0 to 31. */
  public int number() {
    return number;
  }
}
