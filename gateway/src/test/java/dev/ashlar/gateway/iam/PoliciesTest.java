package dev.ashlar.gateway.iam;

import static dev.ashlar.gateway.iam.TestIam.ACCOUNT;
import static dev.ashlar.gateway.iam.TestIam.ROOT;
import static dev.ashlar.gateway.iam.TestIam.allow;
import static dev.ashlar.gateway.iam.TestIam.trust;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.gateway.iam.TestIam.AccessKey;
import dev.ashlar.gateway.iam.TestIam.Answer;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PoliciesTest {
  private static final String READ = allow("s3:GetObject", "*");
  private static final String BUILT_IN = "arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess";
  private final TestIam iam;

  PoliciesTest() throws Exception {
    iam = new TestIam();
    iam.iam(ROOT, "CreateUser", "UserName", "e");
    iam.iam(ROOT, "CreateGroup", "GroupName", "e");
    iam.iam(ROOT, "CreateRole", "RoleName", "e", "AssumeRolePolicyDocument", trust(ACCOUNT));
  }

  @ParameterizedTest
  @ValueSource(strings = {"User", "Group", "Role"})
  void inlinePoliciesArePutReadListedAndDeleted(String kind) throws Exception {
    String name = kind + "Name";
    iam.iam(ROOT, "Put" + kind + "Policy", name, "e", "PolicyName", "p", "PolicyDocument", READ);
    assertEquals(
        READ,
        iam.iam(ROOT, "Get" + kind + "Policy", name, "e", "PolicyName", "p")
            .document("PolicyDocument"));
    assertEquals(
        List.of("p"), iam.iam(ROOT, "List" + kind + "Policies", name, "e").values("member"));
    iam.refused("DeleteConflict", ROOT, "Delete" + kind, name, "e");
    iam.iam(ROOT, "Delete" + kind + "Policy", name, "e", "PolicyName", "p");
    iam.refused("NoSuchEntity", ROOT, "Delete" + kind + "Policy", name, "e", "PolicyName", "p");
    iam.refused("NoSuchEntity", ROOT, "Get" + kind + "Policy", name, "e", "PolicyName", "p");
    iam.iam(ROOT, "Delete" + kind, name, "e");
  }

  @ParameterizedTest
  @ValueSource(strings = {"User", "Group", "Role"})
  void managedPoliciesAreAttachedListedAndDetached(String kind) throws Exception {
    String name = kind + "Name";
    String arn =
        iam.iam(ROOT, "CreatePolicy", "PolicyName", "read", "PolicyDocument", READ).value("Arn");
    for (String policy : List.of(arn, BUILT_IN)) {
      iam.iam(ROOT, "Attach" + kind + "Policy", name, "e", "PolicyArn", policy);
      iam.iam(ROOT, "Attach" + kind + "Policy", name, "e", "PolicyArn", policy);
      assertEquals(
          List.of("e"), iam.iam(ROOT, "ListEntitiesForPolicy", "PolicyArn", policy).values(name));
    }
    assertEquals(
        List.of(arn, BUILT_IN),
        iam.iam(ROOT, "ListAttached" + kind + "Policies", name, "e").values("PolicyArn"));
    assertEquals("1", iam.iam(ROOT, "GetPolicy", "PolicyArn", arn).value("AttachmentCount"));
    iam.refused("DeleteConflict", ROOT, "DeletePolicy", "PolicyArn", arn);
    for (String policy : List.of(arn, BUILT_IN)) {
      iam.iam(ROOT, "Detach" + kind + "Policy", name, "e", "PolicyArn", policy);
      iam.refused("NoSuchEntity", ROOT, "Detach" + kind + "Policy", name, "e", "PolicyArn", policy);
    }
    iam.iam(ROOT, "DeletePolicy", "PolicyArn", arn);
    iam.refused("NoSuchEntity", ROOT, "GetPolicy", "PolicyArn", arn);
  }

  @Test
  void managedPolicyHasUpToFiveVersions() throws Exception {
    String arn =
        iam.iam(ROOT, "CreatePolicy", "PolicyName", "p", "PolicyDocument", READ, "Path", "/x/")
            .value("Arn");
    assertEquals("arn:aws:iam::" + ACCOUNT + ":policy/x/p", arn);
    for (int i = 2; i <= 5; i++) {
      Answer made =
          iam.iam(
              ROOT,
              "CreatePolicyVersion",
              "PolicyArn",
              arn,
              "PolicyDocument",
              allow("s3:Get*", "arn:aws:s3:::b" + i),
              "SetAsDefault",
              i == 3 ? "true" : "false");
      assertEquals("v" + i, made.value("VersionId"));
    }
    iam.refused(
        "LimitExceeded", ROOT, "CreatePolicyVersion", "PolicyArn", arn, "PolicyDocument", READ);
    assertEquals("v3", iam.iam(ROOT, "GetPolicy", "PolicyArn", arn).value("DefaultVersionId"));
    iam.refused("DeleteConflict", ROOT, "DeletePolicyVersion", "PolicyArn", arn, "VersionId", "v3");
    iam.iam(ROOT, "SetDefaultPolicyVersion", "PolicyArn", arn, "VersionId", "v1");
    iam.iam(ROOT, "DeletePolicyVersion", "PolicyArn", arn, "VersionId", "v5");
    // A number is never used again.
    assertEquals(
        "v6",
        iam.iam(ROOT, "CreatePolicyVersion", "PolicyArn", arn, "PolicyDocument", READ)
            .value("VersionId"));
    assertEquals(
        READ,
        iam.iam(ROOT, "GetPolicyVersion", "PolicyArn", arn, "VersionId", "v1")
            .document("Document"));
    iam.refused("NoSuchEntity", ROOT, "GetPolicyVersion", "PolicyArn", arn, "VersionId", "v5");
    iam.refused("DeleteConflict", ROOT, "DeletePolicy", "PolicyArn", arn);
    for (String version :
        iam.iam(ROOT, "ListPolicyVersions", "PolicyArn", arn).values("VersionId")) {
      if (!version.equals("v1")) {
        iam.iam(ROOT, "DeletePolicyVersion", "PolicyArn", arn, "VersionId", version);
      }
    }
    iam.iam(ROOT, "DeletePolicy", "PolicyArn", arn);
  }

  @Test
  void documentsAreChecked() throws Exception {
    for (String document :
        List.of(
            "{}",
            "[]",
            "{\"Statement\":[]",
            allow("s3:NoSuchAction", "*"),
            allow("s3:GetObject", "no-arn"),
            "{\"Statement\":[{\"Effect\":\"Allow\",\"Effect\":\"Deny\",\"Action\":\"*\",\"Resource\":\"*\"}]}",
            trust(ACCOUNT))) {
      iam.refused(
          "MalformedPolicyDocument",
          ROOT,
          "PutUserPolicy",
          "UserName",
          "e",
          "PolicyName",
          "p",
          "PolicyDocument",
          document);
      iam.refused(
          "MalformedPolicyDocument",
          ROOT,
          "CreatePolicy",
          "PolicyName",
          "p",
          "PolicyDocument",
          document);
    }
    iam.refused(
        "MalformedPolicyDocument",
        ROOT,
        "UpdateAssumeRolePolicy",
        "RoleName",
        "e",
        "PolicyDocument",
        READ);
    iam.iam(ROOT, "UpdateAssumeRolePolicy", "RoleName", "e", "PolicyDocument", trust("*"));
    assertEquals(
        trust("*"), iam.iam(ROOT, "GetRole", "RoleName", "e").document("AssumeRolePolicyDocument"));
  }

  @Test
  void inlinePoliciesOfAUserHaveALimitTogether() throws Exception {
    String large = allow("s3:GetObject", "arn:aws:s3:::b/" + "x".repeat(1500));
    iam.iam(ROOT, "PutUserPolicy", "UserName", "e", "PolicyName", "a", "PolicyDocument", large);
    iam.refused(
        "LimitExceeded",
        ROOT,
        "PutUserPolicy",
        "UserName",
        "e",
        "PolicyName",
        "b",
        "PolicyDocument",
        large);
    iam.iam(ROOT, "PutUserPolicy", "UserName", "e", "PolicyName", "a", "PolicyDocument", large);
  }

  @Test
  void listOfPoliciesBeginsWithThoseThatAreBuiltIn() throws Exception {
    iam.iam(ROOT, "CreatePolicy", "PolicyName", "p", "PolicyDocument", READ);
    assertEquals(
        List.of("p"), iam.iam(ROOT, "ListPolicies", "Scope", "Local").values("PolicyName"));
    List<String> all = iam.iam(ROOT, "ListPolicies").values("PolicyName");
    assertTrue(all.contains("AdministratorAccess"));
    assertEquals("p", all.getLast());
    Answer first = iam.iam(ROOT, "ListPolicies", "MaxItems", "" + (all.size() - 1));
    assertEquals("true", first.value("IsTruncated"));
    assertEquals(
        List.of("p"),
        iam.iam(ROOT, "ListPolicies", "Marker", first.value("Marker")).values("PolicyName"));
    iam.refused("AccessDenied", ROOT, "DeletePolicy", "PolicyArn", BUILT_IN);
    assertTrue(
        iam.iam(ROOT, "GetPolicyVersion", "PolicyArn", BUILT_IN, "VersionId", "v1")
            .document("Document")
            .contains("s3:Get*"));
  }

  @Test
  void groupsHaveMembersAndGiveThemTheirPolicies() throws Exception {
    AccessKey alice = iam.user(ROOT, "alice", null);
    iam.refused("AccessDenied", alice, "ListUsers");
    iam.iam(
        ROOT,
        "PutGroupPolicy",
        "GroupName",
        "e",
        "PolicyName",
        "p",
        "PolicyDocument",
        allow("iam:ListUsers", "*"));
    iam.iam(ROOT, "AddUserToGroup", "GroupName", "e", "UserName", "alice");
    iam.iam(alice, "ListUsers");
    assertEquals(List.of("alice"), iam.iam(ROOT, "GetGroup", "GroupName", "e").values("UserName"));
    assertEquals(
        List.of("e"), iam.iam(ROOT, "ListGroupsForUser", "UserName", "alice").values("GroupName"));
    iam.iam(ROOT, "UpdateGroup", "GroupName", "e", "NewGroupName", "f");
    assertEquals(List.of("f"), iam.iam(ROOT, "ListGroups").values("GroupName"));
    iam.refused("DeleteConflict", ROOT, "DeleteGroup", "GroupName", "f");
    iam.iam(ROOT, "RemoveUserFromGroup", "GroupName", "f", "UserName", "alice");
    iam.refused("AccessDenied", alice, "ListUsers");
    iam.refused("NoSuchEntity", ROOT, "RemoveUserFromGroup", "GroupName", "f", "UserName", "alice");
    iam.refused("NoSuchEntity", ROOT, "AddUserToGroup", "GroupName", "f", "UserName", "nobody");
  }

  @Test
  void rolesAreDescribedAndLimited() throws Exception {
    iam.iam(ROOT, "UpdateRole", "RoleName", "e", "MaxSessionDuration", "7200", "Description", "d");
    Answer role = iam.iam(ROOT, "GetRole", "RoleName", "e");
    assertEquals("7200", role.value("MaxSessionDuration"));
    assertEquals("d", role.value("Description"));
    iam.refused("ValidationError", ROOT, "UpdateRole", "RoleName", "e", "MaxSessionDuration", "60");
    assertEquals(
        "x",
        iam.iam(ROOT, "UpdateRoleDescription", "RoleName", "e", "Description", "x")
            .value("Description"));
    assertEquals(List.of("e"), iam.iam(ROOT, "ListRoles").values("RoleName"));
  }
}
