package dev.ashlar.gateway.principal;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Managed policies that every account has without creating them, with the names and meanings that
 * AWS gives them as far as this server has the actions.
 */
public final class BuiltInPolicies {
  private static final String PREFIX = "arn:aws:iam::aws:policy/";

  /**
   * A built-in policy.
   *
   * @param id the permanent one that AWS uses
   */
  public record BuiltIn(String name, String id, String description, String document) {
    public String arn() {
      return PREFIX + name;
    }
  }

  private static final Map<String, BuiltIn> BY_NAME = byName();

  private BuiltInPolicies() {}

  /** All of them by name. */
  public static List<BuiltIn> all() {
    return List.copyOf(BY_NAME.values());
  }

  public static Optional<BuiltIn> named(String name) {
    return Optional.ofNullable(BY_NAME.get(name));
  }

  public static boolean isArn(String arn) {
    return arn.startsWith(PREFIX);
  }

  public static Optional<BuiltIn> withArn(String arn) {
    return isArn(arn) ? named(arn.substring(PREFIX.length())) : Optional.empty();
  }

  private static Map<String, BuiltIn> byName() {
    Map<String, BuiltIn> all = new TreeMap<>();
    add(all, "AdministratorAccess", "ANPAIWMBCKSKIEE64ZLYK", "Everything", "\"*\"");
    add(all, "AmazonS3FullAccess", "ANPAIFIR6V6BVTRAHWINE", "All of S3", "\"s3:*\"");
    add(
        all,
        "AmazonS3ReadOnlyAccess",
        "ANPAIZTJ4DXE7G6AGAE6M",
        "Reading in S3",
        "\"s3:Get*\",\"s3:List*\"");
    add(all, "IAMFullAccess", "ANPAI7XKCFMBPM3QQRRVQ", "All of IAM", "\"iam:*\"");
    add(
        all,
        "IAMReadOnlyAccess",
        "ANPAJKSO7NDY4T57MWDSQ",
        "Reading in IAM",
        "\"iam:Get*\",\"iam:List*\"");
    add(
        all,
        "ReadOnlyAccess",
        "ANPAILL3HVNFSB6DCOWYQ",
        "Reading everywhere",
        "\"s3:Get*\",\"s3:List*\",\"iam:Get*\",\"iam:List*\"");
    return all;
  }

  private static void add(
      Map<String, BuiltIn> all, String name, String id, String description, String actions) {
    String document =
        "{\"Version\":\"2012-10-17\",\"Statement\":[{\"Effect\":\"Allow\",\"Action\":["
            + actions
            + "],\"Resource\":\"*\"}]}";
    all.put(name, new BuiltIn(name, id, description, document));
  }
}
