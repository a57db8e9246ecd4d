package dev.ashlar.gateway.iam;

import static dev.ashlar.gateway.iam.TestIam.ACCOUNT;
import static dev.ashlar.gateway.iam.TestIam.OTHER_ROOT;
import static dev.ashlar.gateway.iam.TestIam.ROOT;
import static dev.ashlar.gateway.iam.TestIam.allow;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.Client;
import dev.ashlar.gateway.iam.TestIam.AccessKey;
import dev.ashlar.gateway.iam.TestIam.Answer;
import dev.ashlar.gateway.iam.TestIam.Request;
import java.time.Duration;
import java.util.TreeSet;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Test;

/** What callers without the right to it try. */
class IamAttacksTest {
  private static final String ANYTHING = allow("*", "*");
  private static final String OWN_POLICY = "arn:aws:iam::" + ACCOUNT + ":policy/p";
  private static final String[] PARAMETERS = {
    "UserName",
    "victim",
    "GroupName",
    "g",
    "RoleName",
    "r",
    "PolicyName",
    "p",
    "PolicyArn",
    OWN_POLICY,
    "PolicyDocument",
    ANYTHING,
    "AssumeRolePolicyDocument",
    TestIam.trust(ACCOUNT),
    "VersionId",
    "v1",
    "AccessKeyId",
    "ROOTKEY1",
    "Status",
    "Inactive",
    "AccountAlias",
    "alias",
    "NewUserName",
    "x",
    "NewGroupName",
    "x",
    "Description",
    "x",
    "Tags.member.1.Key",
    "k",
    "Tags.member.1.Value",
    "v",
    "TagKeys.member.1",
    "k",
    "Url",
    "https://idp.test",
    "OpenIDConnectProviderArn",
    "arn:aws:iam::" + ACCOUNT + ":oidc-provider/idp.test",
    "ClientID",
    "c"
  };
  private final TestIam iam;

  IamAttacksTest() throws Exception {
    iam = new TestIam();
    iam.iam(ROOT, "CreateUser", "UserName", "victim");
    iam.iam(ROOT, "CreateGroup", "GroupName", "g");
    iam.iam(
        ROOT, "CreateRole", "RoleName", "r", "AssumeRolePolicyDocument", TestIam.trust(ACCOUNT));
    iam.iam(ROOT, "CreatePolicy", "PolicyName", "p", "PolicyDocument", ANYTHING);
  }

  @Test
  void userWithoutPoliciesMayDoNothing() throws Exception {
    AccessKey user = iam.user(ROOT, "mallory", null);
    for (String action : new TreeSet<>(IamService.actionNames())) {
      iam.refused("AccessDenied", user, action, PARAMETERS);
    }
  }

  @Test
  void addressAndTlsOfTheConnectionCountNotWhatHeadersSay() throws Exception {
    AccessKey user = iam.user(ROOT, "mallory", allow("iam:*", "*"));
    deny("IpAddress", "aws:SourceIp", "198.51.100.0/24");
    iam.iam(user, "ListUsers");
    assertEquals("AccessDenied", listUsers(user, new Client("198.51.100.7", false)));
    deny("NotIpAddress", "aws:SourceIp", "192.0.2.0/24");
    iam.iam(user, "ListUsers");
    assertEquals("AccessDenied", listUsers(user, new Client("2001:db8::1", false)));
    deny("Bool", "aws:SecureTransport", "false");
    assertEquals("AccessDenied", listUsers(user, new Client("192.0.2.1", false)));
    assertEquals("", listUsers(user, new Client("192.0.2.1", true)));
  }

  private void deny(String operator, String key, String value) throws Exception {
    String policy =
        "{\"Statement\":{\"Effect\":\"Deny\",\"Action\":\"*\",\"Resource\":\"*\",\"Condition\":{\""
            + operator
            + "\":{\""
            + key
            + "\":\""
            + value
            + "\"}}}}";
    iam.iam(
        ROOT,
        "PutUserPolicy",
        "UserName",
        "mallory",
        "PolicyName",
        "deny",
        "PolicyDocument",
        policy);
  }

  private String listUsers(AccessKey user, Client from) throws Exception {
    Request request = iam.signed("iam", user, "Action=ListUsers".getBytes(UTF_8)).from(from);
    request.headers().set("X-Forwarded-For", "192.0.2.1").set("X-Forwarded-Proto", "https");
    return iam.send(request).value("Code");
  }

  @Test
  void deniedUserMayDoNothingWhateverAllowsIt() throws Exception {
    String denied =
        "{\"Statement\":[{\"Effect\":\"Allow\",\"Action\":\"*\",\"Resource\":\"*\"},"
            + "{\"Effect\":\"Deny\",\"Action\":\"iam:*\",\"Resource\":\"*\"}]}";
    AccessKey user = iam.user(ROOT, "mallory", denied);
    iam.iam(
        ROOT,
        "AttachUserPolicy",
        "UserName",
        "mallory",
        "PolicyArn",
        "arn:aws:iam::aws:policy/AdministratorAccess");
    for (String action : new TreeSet<>(IamService.actionNames())) {
      iam.refused("AccessDenied", user, action, PARAMETERS);
    }
  }

  @Test
  void rightToOneUserGivesNoneToAnother() throws Exception {
    AccessKey user =
        iam.user(ROOT, "mallory", allow("iam:*", "arn:aws:iam::" + ACCOUNT + ":user/mallory"));
    iam.iam(user, "GetUser");
    for (String name : new String[] {"victim", "Victim", "VICTIM", "mallory2"}) {
      iam.refused("AccessDenied", user, "CreateAccessKey", "UserName", name);
      iam.refused(
          "AccessDenied",
          user,
          "PutUserPolicy",
          "UserName",
          name,
          "PolicyName",
          "x",
          "PolicyDocument",
          ANYTHING);
    }
    // To take the name of another one needs the right to that one, too.
    iam.refused("AccessDenied", user, "UpdateUser", "UserName", "mallory", "NewUserName", "boss");
    iam.refused("AccessDenied", user, "CreateUser", "UserName", "mallory", "Path", "/x/");
    // The key of another user is not found below one's own name.
    AccessKey victim = iam.iam(ROOT, "CreateAccessKey", "UserName", "victim").key();
    iam.refused("NoSuchEntity", user, "DeleteAccessKey", "AccessKeyId", victim.access());
    iam.refused(
        "NoSuchEntity",
        user,
        "UpdateAccessKey",
        "AccessKeyId",
        ROOT.access(),
        "Status",
        "Inactive");
  }

  @Test
  void userCannotGiveItselfMoreRights() throws Exception {
    AccessKey user = iam.user(ROOT, "mallory", allow("iam:Get*", "*"));
    iam.refused(
        "AccessDenied",
        user,
        "PutUserPolicy",
        "UserName",
        "mallory",
        "PolicyName",
        "own",
        "PolicyDocument",
        ANYTHING);
    iam.refused(
        "AccessDenied",
        user,
        "AttachUserPolicy",
        "UserName",
        "mallory",
        "PolicyArn",
        "arn:aws:iam::aws:policy/AdministratorAccess");
    iam.refused("AccessDenied", user, "AddUserToGroup", "UserName", "mallory", "GroupName", "g");
    iam.refused(
        "AccessDenied",
        user,
        "UpdateAssumeRolePolicy",
        "RoleName",
        "r",
        "PolicyDocument",
        TestIam.trust(ACCOUNT));
  }

  @Test
  void attachingCanBeLimitedToCertainPolicies() throws Exception {
    String limited =
        "{\"Statement\":[{\"Effect\":\"Allow\",\"Action\":\"iam:AttachUserPolicy\","
            + "\"Resource\":\"*\",\"Condition\":{\"ArnEquals\":{\"iam:PolicyARN\":"
            + "\"arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess\"}}}]}";
    AccessKey user = iam.user(ROOT, "helper", limited);
    iam.iam(
        user,
        "AttachUserPolicy",
        "UserName",
        "victim",
        "PolicyArn",
        "arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess");
    iam.refused(
        "AccessDenied",
        user,
        "AttachUserPolicy",
        "UserName",
        "victim",
        "PolicyArn",
        "arn:aws:iam::aws:policy/AdministratorAccess");
    iam.refused(
        "AccessDenied", user, "AttachUserPolicy", "UserName", "victim", "PolicyArn", OWN_POLICY);
  }

  @Test
  void parametersThatAnActionIgnoresMeetNoCondition() throws Exception {
    String readOnly = "arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess";
    String limited =
        "{\"Statement\":[{\"Effect\":\"Allow\",\"Action\":\"iam:*UserPolicy\","
            + "\"Resource\":\"*\",\"Condition\":{\"ArnEquals\":{\"iam:PolicyARN\":\""
            + readOnly
            + "\"}}},{\"Effect\":\"Allow\",\"Action\":\"iam:*User\",\"Resource\":\"*\","
            + "\"Condition\":{\"StringEquals\":{\"aws:RequestTag/team\":\"blue\","
            + "\"aws:TagKeys\":\"team\"}}}]}";
    AccessKey user = iam.user(ROOT, "helper", limited);
    iam.iam(user, "AttachUserPolicy", "UserName", "victim", "PolicyArn", readOnly);
    iam.iam(user, "DetachUserPolicy", "UserName", "victim", "PolicyArn", readOnly);
    iam.refused(
        "AccessDenied",
        user,
        "PutUserPolicy",
        "UserName",
        "helper",
        "PolicyName",
        "more",
        "PolicyDocument",
        ANYTHING,
        "PolicyArn",
        readOnly);
    String[] tag = {
      "UserName", "victim", "Tags.member.1.Key", "team", "Tags.member.1.Value", "blue"
    };
    iam.iam(user, "TagUser", tag);
    iam.refused("AccessDenied", user, "GetUser", tag);
    iam.refused("AccessDenied", user, "DeleteUser", tag);
    iam.refused(
        "AccessDenied", user, "DeleteUser", "UserName", "victim", "TagKeys.member.1", "team");
  }

  @Test
  void otherAccountsAreOutOfReach() throws Exception {
    AccessKey admin = iam.user(OTHER_ROOT, "admin", ANYTHING);
    for (AccessKey key : new AccessKey[] {OTHER_ROOT, admin}) {
      iam.refused("NoSuchEntity", key, "DeleteUser", "UserName", "victim");
      iam.refused("NoSuchEntity", key, "CreateAccessKey", "UserName", "victim");
      iam.refused("NoSuchEntity", key, "GetPolicy", "PolicyArn", OWN_POLICY);
      iam.refused("NoSuchEntity", key, "DeletePolicy", "PolicyArn", OWN_POLICY);
      iam.refused(
          "NoSuchEntity", key, "AttachUserPolicy", "UserName", "admin", "PolicyArn", OWN_POLICY);
      iam.refused(
          "NoSuchEntity",
          key,
          "CreatePolicyVersion",
          "PolicyArn",
          OWN_POLICY,
          "PolicyDocument",
          ANYTHING);
      iam.refused(
          "NoSuchEntity",
          key,
          "DeleteAccessKey",
          "AccessKeyId",
          ROOT.access(),
          "UserName",
          "admin");
      assertFalse(iam.iam(key, "ListUsers").text().contains("victim"));
      assertFalse(iam.iam(key, "ListPolicies", "Scope", "Local").text().contains(ACCOUNT));
    }
    iam.iam(ROOT, "GetUser", "UserName", "victim");
  }

  @Test
  void policyOfAnotherPathIsNotTheSamePolicy() throws Exception {
    iam.refused(
        "NoSuchEntity",
        ROOT,
        "GetPolicy",
        "PolicyArn",
        "arn:aws:iam::" + ACCOUNT + ":policy/elsewhere/p");
    iam.refused(
        "NoSuchEntity", ROOT, "GetPolicy", "PolicyArn", "arn:aws:iam::" + ACCOUNT + ":policy/P");
    iam.refused(
        "NoSuchEntity", ROOT, "GetPolicy", "PolicyArn", "arn:aws:iam::" + ACCOUNT + ":user/victim");
  }

  @Test
  void signatureCoversTheBodyAndTheService() throws Exception {
    byte[] read = "Action=ListUsers".getBytes(UTF_8);
    Request request = iam.signed("iam", ROOT, read);
    request.replaceBody("Action=DeleteUser&UserName=victim".getBytes(UTF_8));
    assertEquals("SignatureDoesNotMatch", iam.send(request).value("Code"));
    Request forSts = iam.signed("sts", ROOT, read);
    forSts
        .headers()
        .set("authorization", forSts.headers().get("authorization").replace("/sts/", "/iam/"));
    assertEquals("SignatureDoesNotMatch", iam.send(forSts).value("Code"));
    Request withoutToken = iam.signed("iam", ROOT, read);
    withoutToken.headers().set("x-amz-security-token", "unsigned");
    assertEquals("SignatureDoesNotMatch", iam.send(withoutToken).value("Code"));
    Request late = iam.signed("iam", ROOT, read);
    iam.advance(Duration.ofMinutes(16));
    assertEquals("SignatureDoesNotMatch", iam.send(late).value("Code"));
  }

  @Test
  void unknownKeyAndWrongSecretTellNothingElse() throws Exception {
    iam.refused("InvalidClientTokenId", new AccessKey("NOSUCHKEY", "x", null), "ListUsers");
    iam.refused("SignatureDoesNotMatch", new AccessKey(ROOT.access(), "wrong", null), "ListUsers");
  }

  @Test
  void requestsForS3PassUnseen() throws Exception {
    Request s3 = iam.signed("s3", ROOT, "Action=ListUsers".getBytes(UTF_8));
    Assertions.assertThrows(S3Exception.class, () -> iam.send(s3));
    Request xml = iam.signed("iam", ROOT, "<x/>".getBytes(UTF_8));
    xml.headers().set("content-type", "application/xml");
    Assertions.assertThrows(S3Exception.class, () -> iam.send(xml));
  }

  @Test
  void bodiesAreBoundedAndForms() throws Exception {
    Answer large = iam.send(iam.signed("iam", ROOT, new byte[(128 << 10) + 1]));
    assertEquals("RequestEntityTooLarge", large.value("Code"));
    for (String form : new String[] {"Action=%", "Action=%zz", "Action=%ff", "a=1&a=2", "&&", ""}) {
      Answer answer = iam.send(iam.signed("iam", ROOT, form.getBytes(UTF_8)));
      assertEquals(400, answer.status(), form);
    }
    Answer twice =
        iam.send(iam.signed("iam", ROOT, "Action=ListUsers&Action=DeleteUser".getBytes(UTF_8)));
    assertEquals("MalformedQueryString", twice.value("Code"));
    Answer strange = iam.send(iam.signed("iam", ROOT, "Action=%3Cscript%3E%00".getBytes(UTF_8)));
    assertEquals("MissingAction", strange.value("Code"));
    assertFalse(strange.text().contains("<script>"));
  }

  @Test
  void requestWithoutSignatureIsRefused() throws Exception {
    Request request = iam.signed("iam", ROOT, "Action=ListUsers".getBytes(UTF_8));
    request.headers().remove("authorization");
    assertEquals("MissingAuthenticationToken", iam.send(request).value("Code"));
  }
}
