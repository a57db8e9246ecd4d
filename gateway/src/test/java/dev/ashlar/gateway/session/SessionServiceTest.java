package dev.ashlar.gateway.session;

import static dev.ashlar.gateway.iam.TestIam.ACCOUNT;
import static dev.ashlar.gateway.iam.TestIam.OTHER_ACCOUNT;
import static dev.ashlar.gateway.iam.TestIam.OTHER_ROOT;
import static dev.ashlar.gateway.iam.TestIam.ROOT;
import static dev.ashlar.gateway.iam.TestIam.allow;
import static dev.ashlar.gateway.iam.TestIam.trust;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.gateway.iam.TestIam;
import dev.ashlar.gateway.iam.TestIam.AccessKey;
import dev.ashlar.gateway.iam.TestIam.Answer;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.Test;

class SessionServiceTest {
  private static final String ROLE = "arn:aws:iam::" + ACCOUNT + ":role/reader";
  private final TestIam iam;
  private final AccessKey alice;

  SessionServiceTest() throws Exception {
    iam = new TestIam();
    alice = iam.user(ROOT, "alice", allow("sts:AssumeRole", ROLE));
    iam.iam(ROOT, "CreateRole", "RoleName", "reader", "AssumeRolePolicyDocument", trust(ACCOUNT));
    iam.iam(
        ROOT,
        "PutRolePolicy",
        "RoleName",
        "reader",
        "PolicyName",
        "p",
        "PolicyDocument",
        allow("iam:List*", "*"));
  }

  private Answer assume(AccessKey key, String... more) throws Exception {
    String[] parameters = new String[4 + more.length];
    System.arraycopy(
        new String[] {"RoleArn", ROLE, "RoleSessionName", "work"}, 0, parameters, 0, 4);
    System.arraycopy(more, 0, parameters, 4, more.length);
    return iam.send("sts", key, "AssumeRole", parameters);
  }

  private void refused(String code, AccessKey key, String... more) throws Exception {
    Answer answer = assume(key, more);
    assertEquals(code, answer.value("Code"), answer.text());
  }

  @Test
  void roleGivesItsRightsForAWhile() throws Exception {
    Answer assumed = assume(alice);
    assertEquals(200, assumed.status(), assumed.text());
    assertEquals("2026-11-26T13:00:00Z", assumed.value("Expiration"));
    AccessKey session = assumed.key();
    assertTrue(session.access().startsWith("ASIA"));
    Answer who = iam.sts(session, "GetCallerIdentity");
    assertEquals("arn:aws:sts::" + ACCOUNT + ":assumed-role/reader/work", who.value("Arn"));
    assertTrue(who.value("UserId").matches("AROA[A-Z2-7]{17}:work"));
    iam.iam(session, "ListUsers");
    iam.refused("AccessDenied", session, "CreateUser", "UserName", "x");
    iam.advance(Duration.ofMinutes(59));
    iam.iam(session, "ListUsers");
    iam.advance(Duration.ofMinutes(1));
    iam.refused("ExpiredToken", session, "ListUsers");
  }

  @Test
  void changedRoleCountsAtOnce() throws Exception {
    AccessKey session = assume(alice).key();
    iam.iam(
        ROOT,
        "PutRolePolicy",
        "RoleName",
        "reader",
        "PolicyName",
        "p",
        "PolicyDocument",
        allow("iam:GetUser", "*"));
    iam.refused("AccessDenied", session, "ListUsers");
    iam.iam(ROOT, "DeleteRolePolicy", "RoleName", "reader", "PolicyName", "p");
    iam.iam(ROOT, "DeleteRole", "RoleName", "reader");
    iam.refused("InvalidClientTokenId", session, "ListUsers");
  }

  @Test
  void sessionPolicyLimitsAndNeverWidens() throws Exception {
    AccessKey narrow = assume(alice, "Policy", allow("iam:ListUsers", "*")).key();
    iam.iam(narrow, "ListUsers");
    iam.refused("AccessDenied", narrow, "ListGroups");
    AccessKey wide = assume(alice, "Policy", allow("*", "*")).key();
    iam.iam(wide, "ListGroups");
    iam.refused("AccessDenied", wide, "CreateUser", "UserName", "x");
    AccessKey managed =
        assume(alice, "PolicyArns.member.1.arn", "arn:aws:iam::aws:policy/AmazonS3FullAccess")
            .key();
    iam.refused("AccessDenied", managed, "ListUsers");
    refused("MalformedPolicyDocument", alice, "Policy", "{}");
    refused(
        "ValidationError",
        alice,
        "PolicyArns.member.1.arn",
        "arn:aws:iam::" + ACCOUNT + ":policy/none");
  }

  @Test
  void onlyThoseWhoAreTrustedAndAllowedAssumeARole() throws Exception {
    AccessKey bob = iam.user(ROOT, "bob", null);
    refused("AccessDenied", bob);
    // Trusted by name: no policy of its own is needed in the same account.
    iam.iam(
        ROOT,
        "UpdateAssumeRolePolicy",
        "RoleName",
        "reader",
        "PolicyDocument",
        trust("arn:aws:iam::" + ACCOUNT + ":user/bob"));
    assertEquals(200, assume(bob).status());
    refused("AccessDenied", alice);
    // Another account: both sides have to say yes.
    AccessKey carol = iam.user(OTHER_ROOT, "carol", null);
    iam.iam(
        ROOT,
        "UpdateAssumeRolePolicy",
        "RoleName",
        "reader",
        "PolicyDocument",
        trust(OTHER_ACCOUNT));
    refused("AccessDenied", carol);
    iam.iam(
        OTHER_ROOT,
        "PutUserPolicy",
        "UserName",
        "carol",
        "PolicyName",
        "p",
        "PolicyDocument",
        allow("sts:AssumeRole", ROLE));
    AccessKey session = assume(carol).key();
    assertEquals(ACCOUNT, iam.sts(session, "GetCallerIdentity").value("Account"));
    assertTrue(iam.iam(session, "ListUsers").values("UserName").contains("alice"));
    refused("AccessDenied", alice);
  }

  @Test
  void externalIdOfTheTrustPolicyIsNeeded() throws Exception {
    iam.iam(
        ROOT,
        "UpdateAssumeRolePolicy",
        "RoleName",
        "reader",
        "PolicyDocument",
        trust(ACCOUNT)
            .replace(
                "\"Action\"",
                "\"Condition\":{\"StringEquals\":{\"sts:ExternalId\":\"right\"}},\"Action\""));
    refused("AccessDenied", alice);
    refused("AccessDenied", alice, "ExternalId", "wrong");
    assertEquals(200, assume(alice, "ExternalId", "right").status());
  }

  @Test
  void absentRoleLooksLikeOneThatDoesNotTrust() throws Exception {
    Answer absent =
        iam.send("sts", alice, "AssumeRole", "RoleArn", ROLE + "2", "RoleSessionName", "work");
    AccessKey bob = iam.user(ROOT, "bob", null);
    Answer denied = assume(bob);
    assertEquals("AccessDenied", absent.value("Code"));
    assertEquals(
        absent.value("Message").replace("alice", "bob").replace("reader2", "reader"),
        denied.value("Message"));
  }

  @Test
  void durationsAreLimited() throws Exception {
    refused("ValidationError", alice, "DurationSeconds", "899");
    refused("ValidationError", alice, "DurationSeconds", "3601");
    iam.iam(ROOT, "UpdateRole", "RoleName", "reader", "MaxSessionDuration", "43200");
    assertEquals(200, assume(alice, "DurationSeconds", "43200").status());
    refused("ValidationError", alice, "DurationSeconds", "43201");
    iam.iam(
        ROOT,
        "PutRolePolicy",
        "RoleName",
        "reader",
        "PolicyName",
        "p",
        "PolicyDocument",
        allow("sts:AssumeRole", "*"));
    AccessKey session = assume(alice).key();
    refused("ValidationError", session, "DurationSeconds", "3601");
    assertEquals(200, assume(session).status());
  }

  @Test
  void sessionOfAUserEndsWithItsKey() throws Exception {
    AccessKey session = iam.sts(alice, "GetSessionToken").key();
    assertEquals(
        "arn:aws:iam::" + ACCOUNT + ":user/alice",
        iam.sts(session, "GetCallerIdentity").value("Arn"));
    iam.refused("AccessDenied", session, "ListUsers");
    iam.refused("AccessDenied", "sts", session, "GetSessionToken");
    iam.iam(
        ROOT,
        "UpdateAccessKey",
        "UserName",
        "alice",
        "AccessKeyId",
        alice.access(),
        "Status",
        "Inactive");
    iam.refused("InvalidClientTokenId", "sts", session, "GetCallerIdentity");
    iam.iam(
        ROOT,
        "UpdateAccessKey",
        "UserName",
        "alice",
        "AccessKeyId",
        alice.access(),
        "Status",
        "Active");
    iam.sts(session, "GetCallerIdentity");
    iam.iam(ROOT, "DeleteAccessKey", "UserName", "alice", "AccessKeyId", alice.access());
    iam.refused("InvalidClientTokenId", "sts", session, "GetCallerIdentity");
  }

  @Test
  void sessionOfRootLastsAnHour() throws Exception {
    Answer token = iam.sts(ROOT, "GetSessionToken", "DurationSeconds", "43200");
    assertEquals("2026-11-26T13:00:00Z", token.value("Expiration"));
    iam.refused("AccessDenied", token.key(), "ListUsers");
  }

  @Test
  void tokenAlteredInAnyCharacterIsInvalid() throws Exception {
    AccessKey session = assume(alice).key();
    String token = Objects.requireNonNull(session.token());
    String alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    for (int i = 0; i < token.length(); i++) {
      char other;
      do {
        other = alphabet.charAt(ThreadLocalRandom.current().nextInt(alphabet.length()));
      } while (other == token.charAt(i));
      String altered = token.substring(0, i) + other + token.substring(i + 1);
      iam.refused("InvalidClientTokenId", "sts", session.withToken(altered), "GetCallerIdentity");
    }
    // The last character has unused bits, each of which counts.
    for (int i = 0; i < alphabet.length(); i++) {
      char last = alphabet.charAt(i);
      String altered = token.substring(0, token.length() - 1) + last;
      if (!altered.equals(token)) {
        iam.refused("InvalidClientTokenId", "sts", session.withToken(altered), "GetCallerIdentity");
      }
    }
    for (String altered :
        new String[] {"", "x", token + "A", token + "=", token.substring(1), token + token}) {
      iam.refused("InvalidClientTokenId", "sts", session.withToken(altered), "GetCallerIdentity");
    }
    iam.sts(session, "GetCallerIdentity");
  }

  @Test
  void tokenWorksWithItsOwnKeyOnly() throws Exception {
    AccessKey first = assume(alice).key();
    AccessKey second = assume(alice).key();
    iam.refused(
        "InvalidClientTokenId", "sts", first.withToken(second.token()), "GetCallerIdentity");
    iam.refused("InvalidClientTokenId", "sts", first.withToken(null), "GetCallerIdentity");
    iam.refused("InvalidClientTokenId", "sts", alice.withToken(first.token()), "GetCallerIdentity");
    iam.refused("InvalidClientTokenId", "sts", ROOT.withToken(first.token()), "GetCallerIdentity");
  }

  @Test
  void tagsOfASessionNeedTrustAndCount() throws Exception {
    iam.iam(
        ROOT,
        "PutUserPolicy",
        "UserName",
        "alice",
        "PolicyName",
        "own",
        "PolicyDocument",
        "{\"Statement\":[{\"Effect\":\"Allow\",\"Action\":[\"sts:AssumeRole\",\"sts:TagSession\"],"
            + "\"Resource\":\"*\"}]}");
    iam.iam(
        ROOT,
        "PutRolePolicy",
        "RoleName",
        "reader",
        "PolicyName",
        "p",
        "PolicyDocument",
        "{\"Statement\":[{\"Effect\":\"Allow\",\"Action\":\"iam:ListUsers\",\"Resource\":\"*\","
            + "\"Condition\":{\"StringEquals\":{\"aws:PrincipalTag/team\":\"red\"}}}]}");
    AccessKey red = assume(alice, "Tags.member.1.Key", "team", "Tags.member.1.Value", "red").key();
    iam.iam(red, "ListUsers");
    AccessKey plain = assume(alice).key();
    iam.refused("AccessDenied", plain, "ListUsers");
    iam.iam(
        ROOT,
        "UpdateAssumeRolePolicy",
        "RoleName",
        "reader",
        "PolicyDocument",
        trust(ACCOUNT).replace(",\"sts:TagSession\"", ""));
    refused("AccessDenied", alice, "Tags.member.1.Key", "team", "Tags.member.1.Value", "red");
    assertEquals(200, assume(alice).status());
  }

  @Test
  void whatIsNotSupportedIsRefused() throws Exception {
    iam.refused("NotImplemented", "sts", alice, "GetFederationToken");
    refused("NotImplemented", alice, "SourceIdentity", "somebody");
    refused("AccessDenied", alice, "SerialNumber", "arn:aws:iam::1:mfa/x", "TokenCode", "123456");
    refused("ValidationError", alice, "ExternalId", "a b");
    iam.refused(
        "ValidationError",
        "sts",
        alice,
        "AssumeRole",
        "RoleArn",
        "x".repeat(30),
        "RoleSessionName",
        "work");
  }
}
