package dev.ashlar.gateway.access.policy.decision;

import dev.ashlar.gateway.access.policy.Policy;
import org.jspecify.annotations.Nullable;

/**
 * What a bucket says about access to it.
 *
 * @param owner canonical user id of its account
 * @param isOwnerRemoved whether the policy was put with the confirmation that it may shut out the
 *     root of the owner from the policy itself
 * @param acl what the ACL of the bucket grants to the caller
 */
public record BucketAccess(
    String owner,
    @Nullable Policy policy,
    boolean isOwnerRemoved,
    ObjectOwnership ownership,
    PublicAccessBlock block,
    AclGrants acl) {

  /** Whether the policy is public and the bucket is closed to other accounts for that reason. */
  boolean isRestricted() {
    return block.restrictPublicBuckets() && policy != null && policy.isPublic();
  }
}
