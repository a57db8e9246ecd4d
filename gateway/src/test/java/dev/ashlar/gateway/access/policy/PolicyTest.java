package dev.ashlar.gateway.access.policy;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.gateway.access.policy.value.ConditionContext;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PolicyTest {
  @ParameterizedTest
  @CsvSource({
    "s3:GetObject,       s3:GetObject,        true",
    "s3:getobject,       s3:GetObject,        true",
    "S3:GETOBJECT,       s3:GetObject,        true",
    "s3:GetObject,       s3:GetObjectVersion, false",
    "s3:Get*,            s3:GetObjectVersion, true",
    "s3:get*,            s3:GetObjectVersion, true",
    "s3:*Object,         s3:PutObject,        true",
    "s3:?etObject,       s3:GetObject,        true",
    "s3:?etObject,       s3:PutObject,        false",
    "s3:*,               s3:PutObject,        true",
    "*,                  s3:PutObject,        true",
    "s3:*,               iam:GetUser,         false",
    "*,                  iam:GetUser,         true",
    "iam:*AccessKey*,    iam:CreateAccessKey, true",
  })
  void actionMatches(String element, String action, boolean isExpected) {
    String statement = "{'Effect': 'Allow', '%s': '" + element + "', 'Resource': '*'}";
    AccessRequest request = Documents.request(Documents.ALICE, action, "arn:aws:s3:::b/k");
    assertEquals(isExpected, evaluate(statement.formatted("Action"), request) == Verdict.ALLOW);
    assertEquals(!isExpected, evaluate(statement.formatted("NotAction"), request) == Verdict.ALLOW);
  }

  @ParameterizedTest
  @CsvSource({
    "*,                                     arn:aws:s3:::b/k,               true",
    "arn:aws:s3:::b,                        arn:aws:s3:::b,                 true",
    "arn:aws:s3:::b,                        arn:aws:s3:::b/k,               false",
    "arn:aws:s3:::b/*,                      arn:aws:s3:::b,                 false",
    "arn:aws:s3:::b/*,                      arn:aws:s3:::b/,                true",
    "arn:aws:s3:::b/*,                      arn:aws:s3:::bb/k,              false",
    "arn:aws:s3:::b*,                       arn:aws:s3:::bb/k,              true",
    "arn:aws:s3:::b/K,                      arn:aws:s3:::b/k,               false",
    "arn:aws:s3:::b/a/*/c,                  arn:aws:s3:::b/a/x/y/c,         true",
    "arn:aws:s3:::b/${aws:username}/*,      arn:aws:s3:::b/alice/k,         true",
    "arn:aws:s3:::b/${aws:username}/*,      arn:aws:s3:::b/bob/k,           false",
    "arn:aws:s3:::b/${aws:missing}/*,       arn:aws:s3:::b/bob/k,           false",
    "arn:aws:s3:::b/${aws:missing}/*,       arn:aws:s3:::b//k,              false",
    "'arn:aws:s3:::b/${aws:x, `none`}/*',   arn:aws:s3:::b/none/k,          true",
    "arn:aws:s3:::b/${*},                   arn:aws:s3:::b/k,               false",
    "arn:aws:s3:::b/${*},                   arn:aws:s3:::b/*,               true",
    "arn:aws:iam::111111111111:user/*,      arn:aws:iam::111111111111:user/p/a, true",
    "arn:aws:iam::111111111111:user/*,      arn:aws:iam::222222222222:user/a,   false",
    "arn:aws:iam::*:user/a,                 arn:aws:iam::222222222222:user/a,   true",
    "arn:aws:iam::111111111111:user/${aws:username}, arn:aws:iam::111111111111:user/alice, true",
    "arn:aws:iam:::user/a,                  arn:aws:iam::222222222222:user/a,   false",
  })
  void resourceMatches(String element, String resource, boolean isExpected) {
    String statement = "{'Effect': 'Allow', 'Action': '*', '%s': '" + element + "'}";
    AccessRequest request =
        new AccessRequest(
            Documents.ALICE,
            "s3:GetObject",
            resource,
            key -> key.equals("aws:username") ? List.of("alice") : List.of());
    assertEquals(isExpected, evaluate(statement.formatted("Resource"), request) == Verdict.ALLOW);
    assertEquals(
        !isExpected, evaluate(statement.formatted("NotResource"), request) == Verdict.ALLOW);
  }

  private static Verdict evaluate(String statement, AccessRequest request) {
    return Documents.identityPolicy(statement).evaluate(request);
  }

  @Test
  void denyWinsWhereverItStands() {
    String allow = "{'Effect': 'Allow', 'Action': 's3:*', 'Resource': '*'}";
    String deny = "{'Effect': 'Deny', 'Action': 's3:GetObject', 'Resource': '*'}";
    AccessRequest request = Documents.getObject(Documents.ALICE, "k");
    assertEquals(Verdict.DENY, Documents.identityPolicy(allow, deny).evaluate(request));
    assertEquals(Verdict.DENY, Documents.identityPolicy(deny, allow).evaluate(request));
  }

  @Test
  void allOperatorsAndKeysHaveToHold() {
    Policy policy =
        Documents.identityPolicy(
            "{'Effect': 'Allow', 'Action': 's3:*', 'Resource': '*', 'Condition':"
                + " {'StringEquals': {'a:x': '1', 'a:y': '2'}, 'Bool': {'a:z': true}}}");
    for (int i = 0; i < 8; i++) {
      int present = i;
      ConditionContext context =
          key ->
              switch (key) {
                case "a:x" -> (present & 1) == 0 ? List.of() : List.of("1");
                case "a:y" -> (present & 2) == 0 ? List.of() : List.of("2");
                default -> (present & 4) == 0 ? List.of("false") : List.of("true");
              };
      assertEquals(
          present == 7 ? Verdict.ALLOW : Verdict.NO_MATCH,
          policy.evaluate(new AccessRequest(Documents.ALICE, "s3:GetObject", "a", context)));
    }
  }

  @Test
  void valuesAreComputedOnceAndOnlyIfNeeded() {
    String statement =
        "{'Effect': 'Allow', 'Action': '%s', 'Resource': '*', 'Condition':"
            + " {'StringEquals': {'aws:Key': 'b'}}}";
    Policy policy =
        Documents.identityPolicy(
            statement.formatted("s3:GetObject"), statement.formatted("s3:Get*"));
    AtomicInteger computations = new AtomicInteger();
    ConditionContext context =
        key -> {
          computations.incrementAndGet();
          return List.of("a");
        };
    policy.evaluate(new AccessRequest(Documents.ALICE, "s3:PutObject", "a", context));
    assertEquals(0, computations.get());
    AccessRequest request = new AccessRequest(Documents.ALICE, "s3:GetObject", "a", context);
    policy.evaluate(request);
    policy.evaluate(request);
    assertEquals(1, computations.get());
  }
}
