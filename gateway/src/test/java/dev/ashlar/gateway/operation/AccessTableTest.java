package dev.ashlar.gateway.operation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ashlar.protocol.message.AclDocument;
import dev.ashlar.protocol.message.AclGrant;
import dev.ashlar.protocol.message.AclGroup;
import dev.ashlar.protocol.message.AclRight;
import dev.ashlar.protocol.message.BucketPolicyDocument;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.OwnershipDocument;
import dev.ashlar.protocol.message.OwnershipRule;
import dev.ashlar.protocol.message.PublicAccessBlockDocument;
import dev.ashlar.protocol.message.PutBucketDocument;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.SetObjectFacts;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/**
 * Requests against buckets with every combination of policy, ACLs, ownership and public access
 * block, compared with rules that are written down here a second time.
 */
class AccessTableTest {
  private static final String OWNER = "owner";
  private static final String OTHER = "other";
  private static final String THIRD = "third";
  private static final String ANYBODY = "anonymous";
  private static final List<String> CALLERS = List.of(OWNER, OTHER, THIRD, ANYBODY);

  /** A statement: to whom (empty: everybody) it allows or denies these actions. */
  private record Statement(boolean allows, Set<String> who, Set<String> actions) {
    boolean isAbout(String caller, String action) {
      return (who.isEmpty() || who.contains(caller)) && actions.contains(action);
    }

    String json() {
      String accounts =
          String.join(
              ",", who.stream().map(one -> "\"" + TestAuthenticator.account(one) + "\"").toList());
      return "{\"Effect\":\"%s\",\"Principal\":%s,\"Action\":[%s],\"Resource\":%s}"
          .formatted(
              allows ? "Allow" : "Deny",
              who.isEmpty() ? "\"*\"" : "{\"AWS\":[" + accounts + "]}",
              String.join(",", actions.stream().map(action -> "\"" + action + "\"").toList()),
              "[\"arn:aws:s3:::bkt\",\"arn:aws:s3:::bkt/*\"]");
    }
  }

  private static final String GET = "s3:GetObject";
  private static final String PUT = "s3:PutObject";
  private static final String LIST = "s3:ListBucket";
  private static final String GET_ACL = "s3:GetObjectAcl";
  private static final Set<String> ALL = Set.of(GET, PUT, LIST, GET_ACL);

  private static final List<List<Statement>> POLICIES =
      List.of(
          List.of(),
          List.of(new Statement(true, Set.of(), Set.of(GET))),
          List.of(new Statement(true, Set.of(OTHER), Set.of(GET, PUT))),
          List.of(
              new Statement(true, Set.of(), ALL),
              new Statement(false, Set.of(OTHER), Set.of(GET, LIST))),
          List.of(new Statement(false, Set.of(), Set.of(PUT))),
          List.of(
              new Statement(true, Set.of(THIRD), Set.of(LIST, GET_ACL)),
              new Statement(false, Set.of(OWNER), Set.of(LIST))));

  /** Grants as "grantee RIGHT"; ALL and AUTH are the groups. */
  private static final List<List<String>> ACLS =
      List.of(
          List.of("owner FULL_CONTROL"),
          List.of("owner FULL_CONTROL", "ALL READ", "other WRITE"),
          List.of("AUTH READ", "AUTH READ_ACP", "third FULL_CONTROL"),
          List.of("ALL FULL_CONTROL"));

  private record Row(
      List<Statement> policy,
      List<String> bucketAcl,
      List<String> objectAcl,
      String objectOwner,
      OwnershipRule ownership,
      boolean ignoresAcls,
      boolean isRestricted) {

    private boolean isEnforced() {
      return ownership == OwnershipRule.OWNERSHIP_ENFORCED;
    }

    boolean allows(String caller, String action) {
      boolean isOfObject = action.equals(GET) || action.equals(GET_ACL);
      String decides = isOfObject && !isEnforced() ? objectOwner : OWNER;
      if (policy.stream().anyMatch(it -> !it.allows && it.isAbout(caller, action))) {
        return false;
      }
      boolean isPublic = policy.stream().anyMatch(it -> it.allows && it.who.isEmpty());
      if (isRestricted && isPublic && !caller.equals(OWNER)) {
        return false;
      }
      if (caller.equals(decides)) {
        return true;
      }
      boolean byPolicy = policy.stream().anyMatch(it -> it.allows && it.isAbout(caller, action));
      return (byPolicy && decides.equals(OWNER))
          || (!isEnforced() && byAcl(caller, action, isOfObject ? objectAcl : bucketAcl));
    }

    private boolean byAcl(String caller, String action, List<String> acl) {
      String right = action.equals(PUT) ? "WRITE" : action.equals(GET_ACL) ? "READ_ACP" : "READ";
      return grants(acl, caller, right)
          || (!ignoresAcls
              && (grants(acl, "ALL", right)
                  || (!caller.equals(ANYBODY) && grants(acl, "AUTH", right))));
    }

    private static boolean grants(List<String> acl, String grantee, String right) {
      return acl.contains(grantee + " " + right) || acl.contains(grantee + " FULL_CONTROL");
    }
  }

  private final TestS3 s3 = new TestS3();

  @Test
  void everyRequestIsDecidedAsTheRulesSay() throws Exception {
    s3.ok(200, "PUT", "/bkt");
    document(1, acl(List.of("ALL FULL_CONTROL")));
    s3.ok(200, TestS3.request("PUT", "/bkt/k-owner").body("x"));
    s3.ok(200, as(OTHER, "PUT", "/bkt/k-other").body("x"));
    int[] outcomes = new int[2];
    for (List<Statement> policy : POLICIES) {
      document(0, policy(policy));
      for (OwnershipRule ownership :
          List.of(OwnershipRule.OWNERSHIP_WRITER, OwnershipRule.OWNERSHIP_ENFORCED)) {
        document(2, OwnershipDocument.newBuilder().setRule(ownership).build().toByteString());
        for (int block = 0; block < 4; block++) {
          document(3, block((block & 1) != 0, (block & 2) != 0));
          for (int i = 0; i < ACLS.size(); i++) {
            for (String objectOwner : List.of(OWNER, OTHER)) {
              List<String> objectAcl = ACLS.get((i + block) % ACLS.size());
              document(1, acl(ACLS.get(i)));
              objectAcl("k-" + objectOwner, objectAcl);
              check(
                  new Row(
                      policy,
                      ACLS.get(i),
                      objectAcl,
                      objectOwner,
                      ownership,
                      (block & 1) != 0,
                      (block & 2) != 0),
                  outcomes);
            }
          }
        }
      }
    }
    // A table in which nearly everything is denied would prove little.
    assertTrue(outcomes[0] > 2_000 && outcomes[1] > 2_000, outcomes[0] + " and " + outcomes[1]);
  }

  private void check(Row row, int[] outcomes) throws Exception {
    for (String caller : CALLERS) {
      for (String action : ALL) {
        TestAnswer answer = s3.send(request(caller, action, "/bkt/k-" + row.objectOwner));
        boolean isAllowed = row.allows(caller, action);
        assertEquals(
            isAllowed ? "" : "AccessDenied", answer.code(), () -> caller + " " + action + row);
        outcomes[isAllowed ? 1 : 0]++;
      }
    }
  }

  private static TestRequest request(String caller, String action, String object) {
    return switch (action) {
      case GET -> as(caller, "GET", object);
      case GET_ACL -> as(caller, "GET", object + "?acl");
      case LIST -> as(caller, "GET", "/bkt?max-keys=1");
      default -> as(caller, "PUT", "/bkt/new-" + caller).body("x");
    };
  }

  private static TestRequest as(String who, String method, String uri) {
    return TestS3.request(method, uri).header("x-test-owner", who);
  }

  private static ByteString policy(List<Statement> statements) {
    if (statements.isEmpty()) {
      return ByteString.EMPTY;
    }
    String text =
        "{\"Version\":\"2012-10-17\",\"Statement\":["
            + String.join(",", statements.stream().map(Statement::json).toList())
            + "]}";
    return BucketPolicyDocument.newBuilder()
        .setText(ByteString.copyFromUtf8(text))
        .build()
        .toByteString();
  }

  private static ByteString block(boolean ignoresAcls, boolean isRestricted) {
    return PublicAccessBlockDocument.newBuilder()
        .setFormat(1)
        .setIgnorePublicAcls(ignoresAcls)
        .setRestrictPublicBuckets(isRestricted)
        .build()
        .toByteString();
  }

  private static ByteString acl(List<String> grants) {
    AclDocument.Builder document = AclDocument.newBuilder().setFormat(1);
    for (String grant : grants) {
      String[] parts = grant.split(" ", -1);
      AclGrant.Builder row = AclGrant.newBuilder().setRight(AclRight.valueOf("RIGHT_" + parts[1]));
      switch (parts[0]) {
        case "ALL" -> row.setGroup(AclGroup.GROUP_ALL_USERS);
        case "AUTH" -> row.setGroup(AclGroup.GROUP_AUTHENTICATED_USERS);
        default -> row.setCanonicalId(parts[0]);
      }
      document.addGrants(row);
    }
    return document.build().toByteString();
  }

  private void document(int kind, ByteString content) throws Exception {
    submit(
        Command.newBuilder()
            .setPutBucketDocument(
                PutBucketDocument.newBuilder()
                    .setBucket("bkt")
                    .setKind(kind)
                    .setDocument(content)));
  }

  private void objectAcl(String key, List<String> grants) throws Exception {
    submit(
        Command.newBuilder()
            .setSetObjectFacts(
                SetObjectFacts.newBuilder().setBucket("bkt").setKey(key).setAcl(acl(grants))));
  }

  private void submit(Command.Builder command) throws Exception {
    assertEquals(ResultCode.OK, s3.metadata.submit(command).getCode());
  }
}
