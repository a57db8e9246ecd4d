package dev.ashlar.gateway.iam;

import static dev.ashlar.gateway.iam.TestIam.ACCOUNT;
import static dev.ashlar.gateway.iam.TestIam.ROOT;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.gateway.iam.TestIam.AccessKey;
import dev.ashlar.gateway.iam.TestIam.Answer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class UsersTest {
  private final TestIam iam;

  UsersTest() throws Exception {
    iam = new TestIam();
  }

  @Test
  void userIsCreatedReadRenamedAndDeleted() throws Exception {
    Answer created =
        iam.iam(
            ROOT,
            "CreateUser",
            "UserName",
            "Alice",
            "Path",
            "/staff/",
            "Tags.member.1.Key",
            "team",
            "Tags.member.1.Value",
            "red");
    assertEquals("arn:aws:iam::" + ACCOUNT + ":user/staff/Alice", created.value("Arn"));
    assertTrue(created.value("UserId").matches("AIDA[A-Z2-7]{17}"));
    assertEquals("red", created.value("Value"));
    Answer read = iam.iam(ROOT, "GetUser", "UserName", "alice");
    assertEquals("Alice", read.value("UserName"));
    assertEquals(created.value("UserId"), read.value("UserId"));
    iam.iam(ROOT, "UpdateUser", "UserName", "Alice", "NewUserName", "Bea", "NewPath", "/x/");
    Answer renamed = iam.iam(ROOT, "GetUser", "UserName", "Bea");
    assertEquals("/x/", renamed.value("Path"));
    assertEquals(created.value("UserId"), renamed.value("UserId"));
    iam.refused("NoSuchEntity", ROOT, "GetUser", "UserName", "Alice");
    iam.iam(ROOT, "DeleteUser", "UserName", "Bea");
    iam.refused("NoSuchEntity", ROOT, "DeleteUser", "UserName", "Bea");
  }

  @Test
  void namesAreUniqueRegardlessOfCase() throws Exception {
    iam.iam(ROOT, "CreateUser", "UserName", "alice");
    iam.refused("EntityAlreadyExists", ROOT, "CreateUser", "UserName", "ALICE");
    iam.iam(ROOT, "CreateUser", "UserName", "bob");
    iam.refused(
        "EntityAlreadyExists", ROOT, "UpdateUser", "UserName", "bob", "NewUserName", "Alice");
  }

  @Test
  void parametersAreChecked() throws Exception {
    iam.refused("ValidationError", ROOT, "CreateUser");
    iam.refused("ValidationError", ROOT, "CreateUser", "UserName", "a b");
    iam.refused("ValidationError", ROOT, "CreateUser", "UserName", "a".repeat(65));
    iam.refused("ValidationError", ROOT, "CreateUser", "UserName", "a", "Path", "staff");
    iam.refused("ValidationError", ROOT, "ListUsers", "MaxItems", "0");
    iam.refused("ValidationError", ROOT, "ListUsers", "MaxItems", "1001");
    iam.refused("ValidationError", ROOT, "ListUsers", "Marker", "!");
    iam.refused(
        "NotImplemented",
        ROOT,
        "CreateUser",
        "UserName",
        "a",
        "PermissionsBoundary",
        "arn:aws:iam::aws:policy/AdministratorAccess");
    iam.refused("InvalidAction", ROOT, "MakeTea");
    iam.refused("InvalidAction", ROOT, "ListUsers", "Version", "2011-01-01");
  }

  @Test
  void listIsPagedAndFilteredByPath() throws Exception {
    for (int i = 0; i < 7; i++) {
      iam.iam(ROOT, "CreateUser", "UserName", "u" + i, "Path", i < 3 ? "/a/" : "/b/");
    }
    List<String> names = new ArrayList<>();
    String marker = "";
    int pages = 0;
    do {
      Answer page =
          marker.isEmpty()
              ? iam.iam(ROOT, "ListUsers", "MaxItems", "3")
              : iam.iam(ROOT, "ListUsers", "MaxItems", "3", "Marker", marker);
      names.addAll(page.values("UserName"));
      marker = page.value("Marker");
      assertEquals(!marker.isEmpty(), page.value("IsTruncated").equals("true"));
      pages++;
    } while (!marker.isEmpty());
    assertEquals(List.of("u0", "u1", "u2", "u3", "u4", "u5", "u6"), names);
    assertEquals(3, pages);
    assertEquals(
        List.of("u0", "u1", "u2"),
        iam.iam(ROOT, "ListUsers", "PathPrefix", "/a/").values("UserName"));
  }

  /** Terraform and others ask for these before they delete a user or a role. */
  @Test
  void whatNobodyHasIsListedAsNothing() throws Exception {
    iam.iam(ROOT, "CreateUser", "UserName", "alice");
    iam.iam(ROOT, "CreateRole", "RoleName", "r", "AssumeRolePolicyDocument", TestIam.trust("*"));
    for (String action :
        List.of(
            "ListMFADevices",
            "ListSigningCertificates",
            "ListSSHPublicKeys",
            "ListServiceSpecificCredentials")) {
      Answer list = iam.iam(ROOT, action, "UserName", "alice");
      assertEquals("false", list.value("IsTruncated"));
      assertEquals(List.of(), list.values("member"));
      iam.refused("NoSuchEntity", ROOT, action, "UserName", "bob");
    }
    iam.iam(ROOT, "ListMFADevices");
    iam.iam(ROOT, "ListInstanceProfilesForRole", "RoleName", "r");
    iam.refused("NoSuchEntity", ROOT, "ListInstanceProfilesForRole", "RoleName", "s");
    iam.refused("NoSuchEntity", ROOT, "GetLoginProfile", "UserName", "alice");
    iam.refused("NoSuchEntity", ROOT, "DeleteLoginProfile", "UserName", "alice");
  }

  @Test
  void accessKeysAreMadeListedDisabledAndDeleted() throws Exception {
    AccessKey key = iam.user(ROOT, "alice", null);
    assertTrue(key.access().matches("AKIA[A-Z2-7]{16}"));
    assertEquals(40, key.secret().length());
    assertEquals(
        "arn:aws:iam::" + ACCOUNT + ":user/alice", iam.sts(key, "GetCallerIdentity").value("Arn"));
    AccessKey second = iam.iam(ROOT, "CreateAccessKey", "UserName", "alice").key();
    iam.refused("LimitExceeded", ROOT, "CreateAccessKey", "UserName", "alice");
    Answer list = iam.iam(ROOT, "ListAccessKeys", "UserName", "alice");
    assertEquals(2, list.values("AccessKeyId").size());
    assertFalse(list.text().contains(key.secret()));
    iam.iam(
        ROOT,
        "UpdateAccessKey",
        "UserName",
        "alice",
        "AccessKeyId",
        key.access(),
        "Status",
        "Inactive");
    iam.refused("InvalidClientTokenId", "sts", key, "GetCallerIdentity");
    iam.iam(
        ROOT,
        "UpdateAccessKey",
        "UserName",
        "alice",
        "AccessKeyId",
        key.access(),
        "Status",
        "Active");
    iam.sts(key, "GetCallerIdentity");
    iam.refused("DeleteConflict", ROOT, "DeleteUser", "UserName", "alice");
    iam.iam(ROOT, "DeleteAccessKey", "UserName", "alice", "AccessKeyId", key.access());
    iam.refused("InvalidClientTokenId", "sts", key, "GetCallerIdentity");
    iam.iam(ROOT, "DeleteAccessKey", "UserName", "alice", "AccessKeyId", second.access());
    iam.iam(ROOT, "DeleteUser", "UserName", "alice");
  }

  @Test
  void rootSeesItselfWithoutAName() throws Exception {
    assertEquals("arn:aws:iam::" + ACCOUNT + ":root", iam.iam(ROOT, "GetUser").value("Arn"));
    assertEquals(List.of(ROOT.access()), iam.iam(ROOT, "ListAccessKeys").values("AccessKeyId"));
  }

  @Test
  void tagsAreSetReplacedAndRemoved() throws Exception {
    iam.iam(ROOT, "CreateUser", "UserName", "alice");
    iam.iam(
        ROOT,
        "TagUser",
        "UserName",
        "alice",
        "Tags.member.1.Key",
        "Team",
        "Tags.member.1.Value",
        "red",
        "Tags.member.2.Key",
        "city",
        "Tags.member.2.Value",
        "bonn");
    iam.iam(
        ROOT,
        "TagUser",
        "UserName",
        "alice",
        "Tags.member.1.Key",
        "team",
        "Tags.member.1.Value",
        "blue");
    Answer tags = iam.iam(ROOT, "ListUserTags", "UserName", "alice");
    assertEquals(List.of("city", "team"), tags.values("Key"));
    assertEquals(List.of("bonn", "blue"), tags.values("Value"));
    iam.iam(ROOT, "UntagUser", "UserName", "alice", "TagKeys.member.1", "city");
    assertEquals(List.of("team"), iam.iam(ROOT, "ListUserTags", "UserName", "alice").values("Key"));
    iam.refused(
        "InvalidInput",
        ROOT,
        "TagUser",
        "UserName",
        "alice",
        "Tags.member.1.Key",
        "aws:x",
        "Tags.member.1.Value",
        "1");
  }

  @Test
  void accountHasASummaryAndAnAlias() throws Exception {
    iam.iam(ROOT, "CreateUser", "UserName", "alice");
    assertTrue(
        iam.iam(ROOT, "GetAccountSummary").text().contains("<key>Users</key><value>1</value>"));
    iam.iam(ROOT, "CreateAccountAlias", "AccountAlias", "my-company");
    assertEquals("my-company", iam.iam(ROOT, "ListAccountAliases").value("member"));
    iam.refused(
        "EntityAlreadyExists",
        TestIam.OTHER_ROOT,
        "CreateAccountAlias",
        "AccountAlias",
        "my-company");
    iam.iam(ROOT, "DeleteAccountAlias", "AccountAlias", "my-company");
    assertEquals("", iam.iam(ROOT, "ListAccountAliases").value("member"));
  }
}
