package dev.ashlar.gateway.access.policy.decision;

import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Which permission of which ACL stands for an action. Other actions cannot be granted by an ACL.
 *
 * @param isOfObject whether the ACL of the object decides, not that of the bucket
 */
record AclRule(boolean isOfObject, AclPermission permission) {
  private static final Map<String, AclRule> BY_ACTION = byAction();

  /** Actions on the data and the ACL of a stored object: its owner decides, not the bucket's. */
  private static final Set<String> OF_OBJECT_OWNER =
      Stream.concat(
              BY_ACTION.entrySet().stream()
                  .filter(rule -> rule.getValue().isOfObject)
                  .map(Map.Entry::getKey),
              Stream.of("s3:getobjectattributes", "s3:getobjectversionattributes"))
          .collect(Collectors.toUnmodifiableSet());

  /**
   * @param action in lower case
   */
  static @Nullable AclRule of(String action) {
    return BY_ACTION.get(action);
  }

  /**
   * @param action in lower case
   */
  static boolean isDecidedByObjectOwner(String action) {
    return OF_OBJECT_OWNER.contains(action);
  }

  private static Map<String, AclRule> byAction() {
    Map<String, AclRule> rules = new HashMap<>();
    put(rules, false, AclPermission.READ, "ListBucket", "ListBucketVersions");
    put(rules, false, AclPermission.READ, "ListBucketMultipartUploads");
    put(rules, false, AclPermission.WRITE, "PutObject", "DeleteObject");
    put(rules, false, AclPermission.WRITE, "AbortMultipartUpload", "ListMultipartUploadParts");
    put(rules, false, AclPermission.READ_ACP, "GetBucketAcl");
    put(rules, false, AclPermission.WRITE_ACP, "PutBucketAcl");
    put(rules, true, AclPermission.READ, "GetObject", "GetObjectVersion");
    put(rules, true, AclPermission.READ, "GetObjectTorrent", "GetObjectVersionTorrent");
    put(rules, true, AclPermission.READ_ACP, "GetObjectAcl", "GetObjectVersionAcl");
    put(rules, true, AclPermission.WRITE_ACP, "PutObjectAcl", "PutObjectVersionAcl");
    return Map.copyOf(rules);
  }

  private static void put(
      Map<String, AclRule> rules, boolean isOfObject, AclPermission permission, String... actions) {
    for (String action : List.of(actions)) {
      rules.put("s3:" + action.toLowerCase(Locale.ROOT), new AclRule(isOfObject, permission));
    }
  }
}
