package dev.ashlar.gateway.access;

import dev.ashlar.gateway.access.policy.value.ConditionContext;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * The facts about a request as far as they belong to an action. Parameters and headers that mean
 * nothing to the action have no value: else senders could meet the condition of a policy by adding
 * them.
 */
final class ActionFacts {
  private static final Set<String> OF_LISTS = Set.of("s3:prefix", "s3:delimiter", "s3:max-keys");
  private static final Set<String> LISTS =
      Set.of("s3:listbucket", "s3:listbucketversions", "s3:listbucketmultipartuploads");

  private static final Set<String> ACLS =
      Set.of(
          "s3:putobject",
          "s3:putobjectacl",
          "s3:putobjectversionacl",
          "s3:putbucketacl",
          "s3:createbucket");

  private static final Set<String> OF_WRITES =
      Set.of(
          "s3:if-match",
          "s3:if-none-match",
          "s3:objectcreationoperation",
          "s3:x-amz-copy-source",
          "s3:x-amz-metadata-directive",
          "s3:x-amz-storage-class",
          "s3:x-amz-website-redirect-location",
          "s3:x-amz-server-side-encryption",
          "s3:x-amz-server-side-encryption-aws-kms-key-id",
          "s3:x-amz-server-side-encryption-customer-algorithm");

  private ActionFacts() {}

  static ConditionContext of(String action, ConditionContext facts) {
    String name = action.toLowerCase(Locale.ROOT);
    return key -> isOf(name, key) ? facts.values(key) : List.of();
  }

  private static boolean isOf(String action, String key) {
    if (OF_LISTS.contains(key)) {
      return LISTS.contains(action);
    }
    if (key.equals("s3:x-amz-acl") || key.startsWith("s3:x-amz-grant-")) {
      return ACLS.contains(action);
    }
    return !OF_WRITES.contains(key) || action.equals("s3:putobject");
  }
}
