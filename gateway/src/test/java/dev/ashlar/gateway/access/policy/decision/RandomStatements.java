package dev.ashlar.gateway.access.policy.decision;

import dev.ashlar.gateway.access.policy.Documents;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** Policies in which everything has a fair chance to be about a request. */
final class RandomStatements {
  private static final List<Object> PRINCIPALS =
      List.of(
          "*",
          Map.of("AWS", "*"),
          Map.of("AWS", Documents.ACCOUNT),
          Map.of("AWS", List.of(Documents.OTHER_ACCOUNT, Documents.ALICE.arn())),
          Map.of("AWS", "arn:aws:iam::" + Documents.OTHER_ACCOUNT + ":root"),
          Map.of("AWS", Documents.SESSION.sessionArn(), "CanonicalUser", "canonical-2"),
          Map.of("AWS", Documents.SESSION.roleArn()),
          Map.of("Service", "logging.s3.amazonaws.com"));
  private static final List<Object> ACTIONS =
      List.of(
          "*",
          "s3:*",
          "s3:Get*",
          "S3:getobject",
          List.of("s3:PutObject", "s3:ListBucket"),
          "s3:?utObject*",
          "s3:*Acl");
  private static final List<Object> RESOURCES =
      List.of(
          "*",
          "arn:aws:s3:::bucket",
          "arn:aws:s3:::bucket/*",
          "arn:aws:s3:::bucket*",
          List.of("arn:aws:s3:::bucket", "arn:aws:s3:::bucket/home/*"),
          "arn:aws:s3:::bucket/home/${aws:username}/*",
          "arn:aws:s3:::bucket/${aws:referer}",
          "arn:aws:s3:::bucket/a?b*c",
          "arn:aws:s3:::bucket/*2*/?");
  private static final List<Map<String, Object>> CONDITIONS =
      List.of(
          Map.of("StringEquals", Map.of("aws:username", List.of("alice", "carol"))),
          Map.of("StringEquals", Map.of("AWS:UserName", "${aws:referer}")),
          Map.of("StringNotEquals", Map.of("aws:username", "alice")),
          Map.of("StringEqualsIgnoreCase", Map.of("aws:username", "ALICE")),
          Map.of("StringNotEqualsIgnoreCase", Map.of("aws:Referer", "A?B*C")),
          Map.of("StringLike", Map.of("aws:Referer", "a*c", "aws:username", "*")),
          Map.of("StringLike", Map.of("aws:Referer", "*${aws:username}*")),
          Map.of("StringNotLike", Map.of("aws:Referer", List.of("a*", "*x"))),
          Map.of("StringLike", Map.of("aws:SourceVpc", "vpc-*")),
          Map.of("StringEquals", Map.of("aws:SourceVpc", "vpc-1")),
          Map.of("IpAddress", Map.of("aws:SourceIp", "10.0.0.0/8")),
          Map.of("IpAddress", Map.of("aws:SourceIp", List.of("192.0.2.0/25", "0.0.0.0/1"))),
          Map.of("NotIpAddress", Map.of("aws:SourceIp", "192.0.2.0/24")),
          Map.of("Bool", Map.of("aws:SecureTransport", true)),
          Map.of("BoolIfExists", Map.of("aws:SecureTransport", "false")),
          Map.of("Null", Map.of("aws:SourceVpc", true)),
          Map.of("Null", Map.of("aws:TagKeys", "false")),
          Map.of("NumericLessThanEquals", Map.of("s3:max-keys", 100)),
          Map.of("NumericLessThanEqualsIfExists", Map.of("s3:max-keys", "50")),
          Map.of("DateLessThan", Map.of("aws:CurrentTime", "2026-06-01T00:00:00Z")),
          Map.of("ForAllValues:StringEquals", Map.of("aws:TagKeys", List.of("a", "b"))),
          Map.of("ForAnyValue:StringEquals", Map.of("aws:TagKeys", List.of("a", "b"))),
          Map.of("ForAllValues:StringNotLike", Map.of("aws:TagKeys", "a*")),
          Map.of("ForAnyValue:StringNotEquals", Map.of("aws:TagKeys", List.of("a", ""))),
          Map.of("ForAnyValue:StringLikeIfExists", Map.of("aws:TagKeys", "?")));

  private RandomStatements() {}

  /** At most one policy of a bucket, or up to {@code max} of an identity. */
  static List<Map<String, Object>> policies(Random random, boolean isOfBucket, int max) {
    List<Map<String, Object>> policies = new ArrayList<>();
    for (int count = random.nextInt(isOfBucket ? 2 : max); count > 0; count--) {
      List<Map<String, Object>> statements = new ArrayList<>();
      for (int i = random.nextInt(4); i >= 0; i--) {
        statements.add(statement(random, isOfBucket));
      }
      Map<String, Object> policy = new LinkedHashMap<>();
      policy.put("Version", "2012-10-17");
      policy.put("Statement", statements);
      policies.add(policy);
    }
    return policies;
  }

  private static Map<String, Object> statement(Random random, boolean isOfBucket) {
    Map<String, Object> statement = new LinkedHashMap<>();
    if (isOfBucket) {
      statement.put(not(random) + "Principal", any(random, PRINCIPALS));
    }
    statement.put("Effect", random.nextInt(4) == 0 ? "Deny" : "Allow");
    statement.put(not(random) + "Action", any(random, ACTIONS));
    statement.put(not(random) + "Resource", any(random, RESOURCES));
    if (random.nextBoolean()) {
      Map<String, Object> conditions = new LinkedHashMap<>(any(random, CONDITIONS));
      conditions.putAll(random.nextBoolean() ? any(random, CONDITIONS) : Map.of());
      statement.put("Condition", conditions);
    }
    return statement;
  }

  private static String not(Random random) {
    return random.nextInt(6) == 0 ? "Not" : "";
  }

  static Map<String, List<String>> context(Random random) {
    Map<String, List<String>> context = new HashMap<>();
    put(random, context, "aws:username", List.of(List.of("alice"), List.of("bob"), List.of("*")));
    put(random, context, "aws:referer", List.of(List.of("a?b*c"), List.of("alice"), List.of("ax")));
    put(random, context, "aws:sourcevpc", List.of(List.of("vpc-1"), List.of("vpc-2")));
    put(random, context, "aws:sourceip", List.of(List.of("10.1.2.3"), List.of("192.0.2.200")));
    put(random, context, "aws:securetransport", List.of(List.of("true"), List.of("false")));
    put(random, context, "s3:max-keys", List.of(List.of("10"), List.of("1000"), List.of("x")));
    put(
        random,
        context,
        "aws:currenttime",
        List.of(List.of("2026-01-01T00:00:00Z"), List.of("2026-12-31T00:00:00Z")));
    put(
        random,
        context,
        "aws:tagkeys",
        List.of(
            List.of("a"), List.of("a", "b"), List.of("c", "ab"), List.of(""), List.of("", "b")));
    return context;
  }

  private static void put(
      Random random, Map<String, List<String>> context, String key, List<List<String>> choices) {
    if (random.nextInt(5) > 0) {
      context.put(key, any(random, choices));
    }
  }

  private static <T> T any(Random random, List<T> choices) {
    return choices.get(random.nextInt(choices.size()));
  }
}
