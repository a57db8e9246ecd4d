package dev.ashlar.gateway.access.policy.decision;

/**
 * The four settings of a bucket. Two of them take effect when an ACL or a policy is put, the other
 * two at each decision.
 */
public record PublicAccessBlock(
    boolean blockPublicAcls,
    boolean ignorePublicAcls,
    boolean blockPublicPolicy,
    boolean restrictPublicBuckets) {
  public static final PublicAccessBlock NONE = new PublicAccessBlock(false, false, false, false);
  public static final PublicAccessBlock ALL = new PublicAccessBlock(true, true, true, true);
}
