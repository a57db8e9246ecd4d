package dev.ashlar.gateway.access.policy.decision;

import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The decision about a row of the table, written as the rules are told: a list of reasons to refuse
 * and a list of reasons to allow.
 *
 * @param bucketAcl grants as "account READ" or "group READ"
 */
record ReferenceDecision(
    ReferenceCaller caller,
    String action,
    String resource,
    Map<String, List<String>> context,
    List<Map<String, Object>> identityPolicies,
    List<Map<String, Object>> sessionPolicies,
    List<Map<String, Object>> bucketPolicy,
    String bucketOwner,
    List<String> objectOwner,
    String ownership,
    Set<String> block,
    Set<String> bucketAcl,
    Set<String> objectAcl) {

  /** The permission of an ACL for an action, and whose ACL it is. */
  private static final Map<String, String> ACL_OF_ACTION =
      Map.of(
          "s3:GetObject", "object READ",
          "s3:GetObjectVersion", "object READ",
          "s3:GetObjectAcl", "object READ_ACP",
          "s3:PutObjectAcl", "object WRITE_ACP",
          "s3:PutObject", "bucket WRITE",
          "s3:DeleteObject", "bucket WRITE",
          "s3:ListBucket", "bucket READ",
          "s3:GetBucketAcl", "bucket READ_ACP",
          "s3:PutBucketAcl", "bucket WRITE_ACP");

  String decide() {
    ReferencePolicy asked = new ReferencePolicy(caller, action, resource, context);
    List<String> identity = identityPolicies.stream().map(asked::verdict).toList();
    List<String> session = sessionPolicies.stream().map(asked::verdict).toList();
    List<String> bucket = bucketPolicy.stream().map(asked::verdict).toList();
    String account = caller.account();
    boolean isRoot = caller.kind().equals("root");

    if (isRoot
        && account.equals(bucketOwner)
        && action.matches("s3:(Get|Put|Delete)BucketPolicy")) {
      return "ALLOW";
    }
    if (identity.contains("deny")) {
      return "IDENTITY_DENY";
    }
    if (session.contains("deny")) {
      return "SESSION_DENY";
    }
    if (bucket.contains("deny")) {
      return "BUCKET_DENY";
    }
    boolean isOutside = !account.equals(bucketOwner) && !caller.kind().equals("service");
    if (block.contains("RestrictPublicBuckets")
        && bucketPolicy.stream().anyMatch(ReferencePolicy::isPublic)
        && isOutside) {
      return "BLOCKED";
    }
    if (isOutside && action.matches("s3:(Get|Put|Delete)BucketPolicy")) {
      return "IMPLICIT_DENY";
    }
    boolean isOutsideSession = !session.isEmpty() && !session.contains("caller");
    boolean isAllowed =
        !isOutsideSession
            && (account.isEmpty()
                ? allowsWithoutAccount(bucket)
                : account.equals(owner())
                    ? isRoot || identity.contains("caller") || allowsInAccount(bucket)
                    : (isRoot || identity.contains("caller")) && allowsOtherAccount(bucket));
    return isAllowed ? "ALLOW" : "IMPLICIT_DENY";
  }

  private String owner() {
    boolean isObjectOwners =
        !objectOwner.isEmpty()
            && !ownership.equals("BUCKET_OWNER_ENFORCED")
            && ACL_OF_ACTION.getOrDefault(action, "").startsWith("object");
    return isObjectOwners ? objectOwner.get(0) : bucketOwner;
  }

  private boolean allowsWithoutAccount(List<String> bucket) {
    boolean isAnonymous = caller.kind().equals("anonymous");
    // To the service by the group that delivers logs, which is not public.
    return policyGives(bucket, "caller") || aclGives(isAnonymous ? "group" : "account");
  }

  private boolean allowsInAccount(List<String> bucket) {
    return policyGives(bucket, "caller") || aclGives("group");
  }

  private boolean allowsOtherAccount(List<String> bucket) {
    return policyGives(bucket, "caller")
        || policyGives(bucket, "account")
        || aclGives("group")
        || aclGives("account");
  }

  private boolean policyGives(List<String> bucket, String verdict) {
    return bucket.contains(verdict) && owner().equals(bucketOwner);
  }

  private boolean aclGives(String grantee) {
    String rule = ACL_OF_ACTION.getOrDefault(action, "");
    boolean isIgnored =
        rule.isEmpty()
            || ownership.equals("BUCKET_OWNER_ENFORCED")
            || (grantee.equals("group") && block.contains("IgnorePublicAcls"))
            || (rule.startsWith("object") && objectOwner.isEmpty());
    Set<String> acl = rule.startsWith("object") ? objectAcl : bucketAcl;
    return !isIgnored
        && (acl.contains(grantee + rule.substring(rule.indexOf(' ')))
            || acl.contains(grantee + " FULL_CONTROL"));
  }
}
