package dev.ashlar.gateway.access.policy.decision;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.gateway.access.policy.AccessRequest;
import dev.ashlar.gateway.access.policy.Documents;
import dev.ashlar.gateway.access.policy.Policy;
import dev.ashlar.gateway.access.policy.PolicyKind;
import dev.ashlar.gateway.access.policy.Requester;
import dev.ashlar.gateway.access.policy.SeededRuns;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * Policy × ACL × ownership × public access block × principal, and random documents, compared with
 * an evaluator of another making.
 */
class DecisionTableTest {
  private static final String OWNER = Documents.ACCOUNT;
  private static final String OTHER = Documents.OTHER_ACCOUNT;
  private static final Map<String, Object> ALLOW_ALL = statement("Allow", "s3:*", "*");
  private static final Map<String, Object> SOME_ACTIONS =
      statement("Allow", List.of("s3:Get*", "s3:ListBucket"), "*");

  private static final List<ReferenceCaller> CALLERS =
      List.of(
          new ReferenceCaller("anonymous", Documents.ANONYMOUS, "", List.of(), List.of()),
          new ReferenceCaller(
              "service", Documents.LOGGING, "", List.of("logging.s3.amazonaws.com"), List.of()),
          identity("root", Documents.ROOT, OWNER, "canonical-1"),
          identity("user", Documents.ALICE, OWNER, "canonical-1", Documents.ALICE.arn()),
          identity("user", Documents.BOB, OWNER, "canonical-1", Documents.BOB.arn()),
          identity(
              "session",
              Documents.SESSION,
              OWNER,
              "canonical-1",
              Documents.SESSION.sessionArn(),
              Documents.SESSION.roleArn()),
          identity("root", Documents.OTHER_ROOT, OTHER, "canonical-2"),
          identity(
              "user", Documents.OTHER_ALICE, OTHER, "canonical-2", Documents.OTHER_ALICE.arn()));

  private static final List<List<Map<String, Object>>> IDENTITIES =
      List.of(
          List.of(),
          List.of(policy(ALLOW_ALL)),
          List.of(policy(SOME_ACTIONS), policy(statement("Deny", "s3:GetObjectAcl", "*"))));

  private static final List<List<Map<String, Object>>> BUCKET_POLICIES =
      List.of(
          List.of(),
          List.of(policy(with(ALLOW_ALL, "Principal", "*"))),
          List.of(policy(with(SOME_ACTIONS, "Principal", Map.of("AWS", "*")))),
          List.of(policy(with(ALLOW_ALL, "Principal", Map.of("AWS", OTHER)))),
          List.of(policy(with(ALLOW_ALL, "Principal", Map.of("AWS", OWNER)))),
          List.of(policy(with(ALLOW_ALL, "Principal", Map.of("AWS", Documents.ALICE.arn())))),
          List.of(policy(with(ALLOW_ALL, "Principal", Map.of("CanonicalUser", "canonical-2")))),
          List.of(policy(with(ALLOW_ALL, "Principal", Map.of("AWS", Documents.SESSION.roleArn())))),
          List.of(
              policy(
                  List.of(
                      with(ALLOW_ALL, "Principal", Map.of("Service", "logging.s3.amazonaws.com")),
                      with(SOME_ACTIONS, "Principal", Map.of("AWS", OTHER)),
                      with(statement("Allow", "s3:GetObject", "*"), "Principal", "*")))),
          List.of(
              policy(
                  List.of(
                      with(ALLOW_ALL, "Principal", "*"),
                      with(
                          statement("Deny", "s3:GetObject", "*"),
                          "NotPrincipal",
                          Map.of("AWS", OWNER))))),
          List.of(policy(with(statement("Deny", "s3:*", "*"), "Principal", "*"))),
          List.of(
              policy(
                  with(
                      with(ALLOW_ALL, "Principal", "*"),
                      "Condition",
                      Map.of("IpAddress", Map.of("aws:SourceIp", "10.0.0.0/8"))))));

  private static final List<Set<String>> ACLS =
      List.of(
          Set.of(),
          Set.of("group READ"),
          Set.of("group READ", "group WRITE"),
          Set.of("account READ_ACP", "account WRITE"),
          Set.of("account FULL_CONTROL", "group READ_ACP"));

  private static final List<Set<String>> BLOCKS =
      List.of(
          Set.of(),
          Set.of("IgnorePublicAcls"),
          Set.of("RestrictPublicBuckets"),
          Set.of("IgnorePublicAcls", "RestrictPublicBuckets"));

  private static final List<String> ACTIONS =
      List.of(
          "s3:GetObject", "s3:GetObjectAcl", "s3:PutObject", "s3:ListBucket", "s3:PutBucketPolicy");

  private final Map<Map<String, Object>, Policy> parsed = new HashMap<>();

  @Test
  void everyRowIsDecidedAsByTheReference() {
    Map<Decision, Integer> rows = new EnumMap<>(Decision.class);
    for (List<Map<String, Object>> bucketPolicy : BUCKET_POLICIES) {
      for (Set<String> acl : ACLS) {
        for (ObjectOwnership ownership : ObjectOwnership.values()) {
          for (Set<String> block : BLOCKS) {
            for (ReferenceCaller caller : CALLERS) {
              for (String action : ACTIONS) {
                int variant = rows.values().stream().mapToInt(Integer::intValue).sum();
                for (List<Map<String, Object>> identity : IDENTITIES) {
                  ReferenceDecision row =
                      new ReferenceDecision(
                          caller,
                          action,
                          resource(action),
                          Map.of("aws:sourceip", List.of("10.1.1.1")),
                          hasPolicies(caller) ? identity : List.of(),
                          isSession(caller) && variant % 2 == 0
                              ? List.of(policy(SOME_ACTIONS))
                              : List.of(),
                          bucketPolicy,
                          OWNER,
                          objectOwner(action, variant / 3),
                          ownership.name(),
                          block,
                          acl,
                          acl);
                  rows.merge(check(row), 1, Integer::sum);
                }
              }
            }
          }
        }
      }
    }
    // A table in which nearly everything is denied would prove little.
    assertTrue(rows.values().stream().allMatch(count -> count > 2_000), rows::toString);
  }

  private static String resource(String action) {
    return "arn:aws:s3:::bucket" + (action.contains("Object") ? "/home/alice/k" : "");
  }

  private static List<String> objectOwner(String action, int variant) {
    return action.startsWith("s3:GetObject")
        ? List.of(List.of(OWNER), List.of(OTHER), List.<String>of()).get(variant % 3)
        : List.of();
  }

  private static boolean hasPolicies(ReferenceCaller caller) {
    return caller.kind().equals("user") || isSession(caller);
  }

  private static boolean isSession(ReferenceCaller caller) {
    return caller.kind().equals("session");
  }

  @Test
  void randomDocumentsAreDecidedAsByTheReference() {
    SeededRuns.repeat(
        30,
        random -> {
          for (int i = 0; i < 500; i++) {
            check(randomRow(random));
          }
        });
  }

  private static ReferenceDecision randomRow(Random random) {
    ReferenceCaller caller = any(random, CALLERS);
    String action =
        any(random, List.of("s3:GetObject", "s3:PutObject", "s3:ListBucket", "s3:PutObjectAcl"));
    return new ReferenceDecision(
        caller,
        action,
        any(random, List.of("", "/", "/home/alice/k", "/home/bob/k", "/a?b*c", "/logs/2026/x"))
            .transform("arn:aws:s3:::bucket"::concat),
        RandomStatements.context(random),
        hasPolicies(caller) ? RandomStatements.policies(random, false, 3) : List.of(),
        isSession(caller) ? RandomStatements.policies(random, false, 2) : List.of(),
        RandomStatements.policies(random, true, 2),
        OWNER,
        any(random, List.of(List.of(OWNER), List.of(OTHER), List.<String>of())),
        any(random, List.of(ObjectOwnership.values())).name(),
        any(random, BLOCKS),
        any(random, ACLS),
        any(random, ACLS));
  }

  private static <T> T any(Random random, List<T> choices) {
    return choices.get(random.nextInt(choices.size()));
  }

  private Decision check(ReferenceDecision row) {
    PolicyKind bucket = PolicyKind.bucket("bucket");
    PolicyKind identity = PolicyKind.identity(PolicyKind.MANAGED_CHARACTERS_MAX);
    for (Map<String, Object> document : row.bucketPolicy()) {
      assertEquals(
          ReferencePolicy.isPublic(document),
          parse(document, bucket).isPublic(),
          () -> Json.write(document));
    }
    Decision decision =
        Authorization.decide(
            new AccessRequest(
                row.caller().value(),
                row.action(),
                row.resource(),
                key -> row.context().getOrDefault(key, List.of())),
            new IdentityPolicies(
                parse(row.identityPolicies(), identity),
                parse(row.sessionPolicies(), PolicyKind.session())),
            new BucketAccess(
                canonicalId(row.bucketOwner()),
                row.bucketPolicy().isEmpty() ? null : parse(row.bucketPolicy().get(0), bucket),
                false,
                ObjectOwnership.valueOf(row.ownership()),
                new PublicAccessBlock(
                    false,
                    row.block().contains("IgnorePublicAcls"),
                    false,
                    row.block().contains("RestrictPublicBuckets")),
                grants(row.bucketAcl())),
            row.objectOwner().isEmpty()
                ? null
                : new ObjectAccess(canonicalId(row.objectOwner().get(0)), grants(row.objectAcl())));
    assertEquals(row.decide(), decision.name(), row::toString);
    return decision;
  }

  private static String canonicalId(String account) {
    return account.equals(OWNER) ? "canonical-1" : "canonical-2";
  }

  private List<Policy> parse(List<Map<String, Object>> documents, PolicyKind kind) {
    return documents.stream().map(document -> parse(document, kind)).toList();
  }

  private Policy parse(Map<String, Object> document, PolicyKind kind) {
    Policy known = parsed.get(document);
    if (known == null || document.isEmpty()) {
      known = Documents.parse(Json.write(document), kind);
      parsed.put(document, known);
    }
    return known;
  }

  private static AclGrants grants(Set<String> acl) {
    return new AclGrants(permissions(acl, "account "), permissions(acl, "group "));
  }

  private static Set<AclPermission> permissions(Set<String> acl, String grantee) {
    return acl.stream()
        .filter(grant -> grant.startsWith(grantee))
        .map(grant -> AclPermission.valueOf(grant.substring(grantee.length())))
        .collect(Collectors.toSet());
  }

  private static ReferenceCaller identity(
      String kind, Requester value, String account, String canonicalId, String... names) {
    return new ReferenceCaller(
        kind,
        value,
        account,
        List.of(names),
        List.of(account, "arn:aws:iam::" + account + ":root", canonicalId));
  }

  private static Map<String, Object> statement(String effect, Object actions, Object resources) {
    Map<String, Object> statement = new LinkedHashMap<>();
    statement.put("Effect", effect);
    statement.put("Action", actions);
    statement.put("Resource", resources);
    return statement;
  }

  private static Map<String, Object> with(
      Map<String, Object> statement, String name, Object value) {
    Map<String, Object> changed = new LinkedHashMap<>(statement);
    changed.put(name, value);
    return changed;
  }

  private static Map<String, Object> policy(Map<String, Object> statement) {
    return policy(List.of(statement));
  }

  private static Map<String, Object> policy(List<Map<String, Object>> statements) {
    Map<String, Object> policy = new LinkedHashMap<>();
    policy.put("Version", "2012-10-17");
    policy.put("Statement", statements);
    return policy;
  }
}
