package dev.ashlar.gateway.access.policy;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PrincipalsTest {
  private static final Map<String, Requester> CALLERS =
      Map.of(
          "anonymous", Documents.ANONYMOUS,
          "root", Documents.ROOT,
          "alice", Documents.ALICE,
          "bob", Documents.BOB,
          "session", Documents.SESSION,
          "otherRoot", Documents.OTHER_ROOT,
          "otherAlice", Documents.OTHER_ALICE,
          "logging", Documents.LOGGING);

  /** Callers that match as themselves, and callers whose account matches. */
  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      quoteCharacter = '~',
      value = {
        "'*'; anonymous root alice bob session otherRoot otherAlice logging; ''",
        "{'AWS': '*'}; anonymous root alice bob session otherRoot otherAlice logging; ''",
        "{'AWS': ['222222222222', '*']};"
            + " anonymous root alice bob session otherRoot otherAlice logging; ''",
        "{'AWS': '111111111111'}; ''; root alice bob session",
        "{'AWS': 'arn:aws:iam::111111111111:root'}; ''; root alice bob session",
        "{'AWS': ['111111111111', '222222222222']}; '';"
            + " root alice bob session otherRoot otherAlice",
        "{'AWS': 'arn:aws:iam::111111111111:user/staff/alice'}; alice; ''",
        "{'AWS': 'arn:aws:iam::111111111111:user/alice'}; ''; ''",
        "{'AWS': 'arn:aws:iam::111111111111:user/staff/ALICE'}; ''; ''",
        "{'AWS': ['111111111111', 'arn:aws:iam::111111111111:user/staff/alice']}; alice;"
            + " root bob session",
        "{'AWS': 'arn:aws:iam::111111111111:role/jobs/reader'}; session; ''",
        "{'AWS': 'arn:aws:iam::222222222222:role/jobs/reader'}; ''; ''",
        "{'AWS': 'arn:aws:sts::111111111111:assumed-role/reader/nightly'}; session; ''",
        "{'AWS': 'arn:aws:sts::111111111111:assumed-role/reader/daily'}; ''; ''",
        "{'CanonicalUser': 'canonical-1'}; ''; root alice bob session",
        "{'CanonicalUser': 'canonical-3'}; ''; ''",
        "{'Service': 'logging.s3.amazonaws.com'}; logging; ''",
        "{'Service': 'other.s3.amazonaws.com'}; ''; ''",
        "{'Service': 'logging.s3.amazonaws.com', 'CanonicalUser': 'canonical-2'}; logging;"
            + " otherRoot otherAlice",
      })
  void matches(String principal, String asCallers, String asAccounts) {
    for (Map.Entry<String, Requester> caller : CALLERS.entrySet()) {
      Verdict expected =
          names(asCallers).contains(caller.getKey())
              ? Verdict.ALLOW
              : names(asAccounts).contains(caller.getKey())
                  ? Verdict.ALLOW_ACCOUNT
                  : Verdict.NO_MATCH;
      assertEquals(
          expected, evaluate("Allow", "Principal", principal, caller.getValue()), caller.getKey());
      boolean isMatch = expected != Verdict.NO_MATCH;
      assertEquals(
          isMatch ? Verdict.DENY : Verdict.NO_MATCH,
          evaluate("Deny", "Principal", principal, caller.getValue()));
      assertEquals(
          isMatch ? Verdict.NO_MATCH : Verdict.ALLOW,
          evaluate("Allow", "NotPrincipal", principal, caller.getValue()));
      assertEquals(
          isMatch ? Verdict.NO_MATCH : Verdict.DENY,
          evaluate("Deny", "NotPrincipal", principal, caller.getValue()));
    }
  }

  @Test
  void accountThatCannotBeHereIsNobody() {
    String foreign = "{'AWS': 'arn:aws:iam::tenant1:root'}";
    for (Requester caller : CALLERS.values()) {
      assertEquals(Verdict.NO_MATCH, evaluate("Allow", "Principal", foreign, caller));
    }
    String withAnother = "{'AWS': ['arn:aws:iam::tenant1:root', '111111111111']}";
    assertEquals(
        Verdict.ALLOW_ACCOUNT, evaluate("Allow", "Principal", withAnother, Documents.ALICE));
  }

  private static List<String> names(String text) {
    return List.of(text.split(" ", -1));
  }

  private static Verdict evaluate(
      String effect, String element, String principal, Requester requester) {
    Policy policy =
        Documents.bucketPolicy(
            "{'Effect': '%s', '%s': %s, 'Action': 's3:GetObject', 'Resource': '*'}"
                .formatted(effect, element, principal));
    return policy.evaluate(Documents.getObject(requester, "key"));
  }

  @Test
  void federatedPrincipalMatchesItsProvider() {
    Policy policy =
        Documents.trustPolicy(
            "{'Effect': 'Allow', 'Action': 'sts:AssumeRoleWithWebIdentity', 'Principal':"
                + " {'Federated': 'arn:aws:iam::111111111111:oidc-provider/example.com/realm'}}");
    assertEquals(
        Verdict.ALLOW, assume(policy, "arn:aws:iam::111111111111:oidc-provider/example.com/realm"));
    assertEquals(
        Verdict.NO_MATCH, assume(policy, "arn:aws:iam::111111111111:oidc-provider/example.com"));
  }

  private static Verdict assume(Policy policy, String provider) {
    return policy.evaluate(
        Documents.request(
            new Requester.Federated(provider),
            "sts:AssumeRoleWithWebIdentity",
            "arn:aws:iam::111111111111:role/r"));
  }
}
