package dev.ashlar.gateway.fuzz;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.ashlar.gateway.access.policy.AccessRequest;
import dev.ashlar.gateway.access.policy.Policy;
import dev.ashlar.gateway.access.policy.PolicyKind;
import dev.ashlar.gateway.access.policy.Requester;
import dev.ashlar.gateway.access.policy.document.MalformedPolicyException;
import dev.ashlar.gateway.access.policy.value.ConditionContext;
import java.util.List;

/** Policies: they are malformed, or decide; the first byte chooses what they are attached to. */
public final class PolicyTarget {
  private static final List<PolicyKind> KINDS =
      List.of(
          PolicyKind.bucket("bucket"),
          PolicyKind.identity(PolicyKind.MANAGED_CHARACTERS_MAX),
          PolicyKind.session(),
          PolicyKind.trust());
  private static final List<Requester> REQUESTERS =
      List.of(
          new Requester.Anonymous(),
          new Requester.Root("111111111111", "a".repeat(64)),
          new Requester.User(
              "111111111111",
              "a".repeat(64),
              "arn:aws:iam::111111111111:user/path/name",
              "AIDA1",
              "name"),
          new Requester.Federated("arn:aws:iam::111111111111:oidc-provider/idp.test"));
  private static final ConditionContext FACTS =
      key ->
          switch (key) {
            case "aws:sourceip" -> List.of("192.0.2.7");
            case "aws:currenttime" -> List.of("2026-11-27T00:00:00Z");
            case "aws:username" -> List.of("na*me");
            case "aws:securetransport" -> List.of("true");
            case "s3:prefix" -> List.of("home/a", "home/b");
            default -> List.of();
          };

  private PolicyTarget() {}

  public static void fuzzerTestOneInput(byte[] data) {
    if (data.length == 0) {
      return;
    }
    PolicyKind kind = KINDS.get((data[0] & 0xff) % KINDS.size());
    Policy policy;
    try {
      policy = Policy.parse(new String(data, 1, data.length - 1, UTF_8), kind);
    } catch (MalformedPolicyException e) {
      if (e.reason().isEmpty()) {
        throw new AssertionError("an error without a reason", e);
      }
      return;
    }
    for (Requester requester : REQUESTERS) {
      for (String action : List.of("s3:GetObject", "sts:AssumeRole", "S3:putobject")) {
        policy.evaluate(
            new AccessRequest(requester, action, "arn:aws:s3:::bucket/home/a/b?c*", FACTS));
      }
    }
    if (kind instanceof PolicyKind.Bucket) {
      policy.isPublic();
    }
  }

  static List<byte[]> seeds() {
    return List.of(
        ("0{\"Version\":\"2012-10-17\",\"Id\":\"i\",\"Statement\":[{\"Sid\":\"s\",\"Effect\":\"Allow\","
                + "\"Principal\":{\"AWS\":[\"*\",\"111111111111\"]},\"Action\":\"s3:Get*\","
                + "\"Resource\":[\"arn:aws:s3:::bucket\",\"arn:aws:s3:::bucket/home/${aws:username}/*\"],"
                + "\"Condition\":{\"ForAllValues:StringLikeIfExists\":{\"s3:prefix\":[\"home/*\"]},"
                + "\"IpAddress\":{\"aws:SourceIp\":\"192.0.2.0/24\"},"
                + "\"DateLessThan\":{\"aws:CurrentTime\":\"2027-01-01T00:00:00Z\"},"
                + "\"Null\":{\"aws:TokenIssueTime\":true}}}]}")
            .getBytes(UTF_8),
        ("1{\"Statement\":{\"Effect\":\"Deny\",\"NotAction\":[\"iam:*\"],\"NotResource\":\"*\","
                + "\"Condition\":{\"NumericGreaterThanEquals\":{\"s3:max-keys\":1e3},"
                + "\"ArnLike\":{\"aws:PrincipalArn\":\"arn:aws:iam::*:user/${*}?\"},"
                + "\"BinaryEquals\":{\"aws:x\":\"QQ==\"},\"Bool\":{\"aws:SecureTransport\":false}}}}")
            .getBytes(UTF_8),
        ("3{\"Version\":\"2012-10-17\",\"Statement\":{\"Effect\":\"Allow\",\"Principal\":{\"Federated\":"
                + "\"arn:aws:iam::111111111111:oidc-provider/idp.test\"},\"Action\":"
                + "\"sts:AssumeRoleWithWebIdentity\",\"Condition\":{\"StringEquals\":{\"idp.test:sub\":\"a\"}}}}")
            .getBytes(UTF_8),
        "2{\"Statement\":[],\"Statement\":[]}".getBytes(UTF_8));
  }
}
