package dev.ashlar.gateway.s3;

/**
 * Configuration of the S3 service.
 *
 * @param region the only region of this installation
 * @param acceptsAnyRegion whether buckets may be created that are asked for in other regions
 * @param ownerDisplayName shown as DisplayName of the account of the server's own credential
 * @param newBuckets how far new buckets are open
 * @param answers as which service requests are answered
 */
public record S3Config(
    String region,
    boolean acceptsAnyRegion,
    VirtualHosts virtualHosts,
    String ownerDisplayName,
    NewBuckets newBuckets,
    AnswerStyle answers) {
  /** How buckets are created that say nothing else. */
  public enum NewBuckets {
    /** ACLs count, who writes an object owns it, and nothing public is blocked. */
    OPEN,

    /** The bucket's owner owns everything, ACLs do not count, and all that is public is blocked. */
    ENFORCED
  }

  /** The region whose LocationConstraint S3 leaves empty. */
  public static final String CLASSIC_REGION = "us-east-1";

  /** With this region only, open new buckets, and answers as those of S3. */
  public S3Config(String region, VirtualHosts virtualHosts, String ownerDisplayName) {
    this(region, false, virtualHosts, ownerDisplayName, NewBuckets.OPEN, AnswerStyle.S3);
  }
}
