package dev.ashlar.metadata.state.identity;

import static dev.ashlar.protocol.client.TestIdentities.ACCOUNT;
import static dev.ashlar.protocol.client.TestIdentities.deleteIdentity;
import static dev.ashlar.protocol.client.TestIdentities.deleteKey;
import static dev.ashlar.protocol.client.TestIdentities.document;
import static dev.ashlar.protocol.client.TestIdentities.group;
import static dev.ashlar.protocol.client.TestIdentities.key;
import static dev.ashlar.protocol.client.TestIdentities.policy;
import static dev.ashlar.protocol.client.TestIdentities.provider;
import static dev.ashlar.protocol.client.TestIdentities.put;
import static dev.ashlar.protocol.client.TestIdentities.putChanged;
import static dev.ashlar.protocol.client.TestIdentities.putNew;
import static dev.ashlar.protocol.client.TestIdentities.role;
import static dev.ashlar.protocol.client.TestIdentities.user;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.DeleteIdentity;
import dev.ashlar.protocol.message.IdentityKind;
import dev.ashlar.protocol.message.IdentityRow;
import dev.ashlar.protocol.message.PrincipalQuery;
import dev.ashlar.protocol.message.ResultCode;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The rules that concern several rows. */
class IdentityCommandsTest extends IdentityFixture {
  @Test
  void namesAreUniqueRegardlessOfCaseAndPath() throws Exception {
    ok(putNew(user("Ann")));
    refused(
        ResultCode.ENTITY_ALREADY_EXISTS,
        putNew(user("aNN").setId("AIDA2").setPath("/elsewhere/")));
    ok(putNew(group("ann")));
    ok(putNew(role("ann")));
    refused(ResultCode.CONDITIONAL_CONFLICT, putNew(user("Bob").setId("AIDAANN")));
    refused(ResultCode.CONDITIONAL_CONFLICT, putNew(role("Bob").setId("AIDAANN")));
  }

  @Test
  void aRenamedIdentityKeepsWhatRefersToIt() throws Exception {
    ok(putNew(group("g")));
    ok(putNew(policy("p")));
    ok(putNew(user("u").addGroups("AGPAG").addAttachedPolicies("ANPAP")));
    ok(put(key("AKIA", "AIDAU")));
    ok(putChanged(identity("AGPAG").setName("h").setPath("/x/")));
    ok(putChanged(identity("ANPAP").setName("q")));
    ok(putChanged(identity("AIDAU").setName("V")));
    var principal = metadata.principal(PrincipalQuery.newBuilder().setAccessKey("AKIA").build());
    assertEquals("V", principal.getIdentity().getName());
    assertEquals("h", principal.getGroups(0).getName());
    assertEquals("q", principal.getPolicies(0).getName());
    assertEquals("AIDAU", row(IdentityKind.IDENTITY_USER, "v").getId());
    assertTrue(metadata.identity(ACCOUNT, IdentityKind.IDENTITY_USER, "u").isEmpty());
    ok(putNew(user("u").setId("AIDA2")));
    refused(ResultCode.ENTITY_ALREADY_EXISTS, putChanged(identity("AIDA2").setName("v")));
    ok(putChanged(identity("AIDAU").setName("v"))); // the same name, in other letters
  }

  private IdentityRow row(IdentityKind kind, String name) throws Exception {
    return metadata.identity(ACCOUNT, kind, name).orElseThrow();
  }

  @Test
  void aChangeNeedsTheRevisionThatWasRead() throws Exception {
    ok(putNew(user("u")));
    IdentityRow.Builder read = identity("AIDAU");
    ok(putChanged(read.clone().setPath("/a/")));
    refused(ResultCode.CONDITIONAL_CONFLICT, putChanged(read.clone().setPath("/b/")));
    refused(ResultCode.ENTITY_ALREADY_EXISTS, putNew(read.clone().setPath("/b/")));
    DeleteIdentity.Builder deletion =
        DeleteIdentity.newBuilder()
            .setAccount(ACCOUNT)
            .setId("AIDAU")
            .setExpectedRevision(read.getRevision());
    refused(ResultCode.CONDITIONAL_CONFLICT, Command.newBuilder().setDeleteIdentity(deletion));
    deletion.setExpectedRevision(identity("AIDAU").getRevision());
    ok(Command.newBuilder().setDeleteIdentity(deletion));
    refused(ResultCode.NO_SUCH_ENTITY, putChanged(read.clone()));
    refused(ResultCode.NO_SUCH_ENTITY, deleteIdentity("AIDAU"));
  }

  @Test
  void kindAndVersionsMadeDoNotGoBack() throws Exception {
    ok(putNew(policy("p").setVersionsMade(3)));
    refused(ResultCode.INVALID_COMMAND, putChanged(identity("ANPAP").setVersionsMade(2)));
    long revision = identity("ANPAP").getRevision();
    refused(ResultCode.INVALID_COMMAND, putChanged(user("u").setId("ANPAP").setRevision(revision)));
  }

  @Test
  void documentsKeepTheTimeOfTheirCreation() throws Exception {
    ok(putNew(user("u").addDocuments(document("a"))));
    long created = identity("AIDAU").getDocuments(0).getCreatedAtMs();
    ok(
        putChanged(
            identity("AIDAU")
                .setDocuments(0, document("a").setText("new"))
                .addDocuments(document("b"))));
    assertEquals(created, identity("AIDAU").getDocuments(0).getCreatedAtMs());
    assertEquals("new", identity("AIDAU").getDocuments(0).getText());
    ok(putChanged(identity("AIDAU").removeDocuments(0)));
    assertEquals("b", identity("AIDAU").getDocuments(0).getName());
  }

  @Test
  void nothingInUseIsDeleted() throws Exception {
    ok(putNew(policy("p")));
    ok(putNew(group("g").addAttachedPolicies("ANPAP")));
    ok(putNew(user("u").addGroups("AGPAG").addDocuments(document("d"))));
    ok(putNew(role("r").addBuiltInPolicies("ReadOnly")));
    ok(putNew(provider("idp")));
    refused(ResultCode.DELETE_CONFLICT, deleteIdentity("ANPAP"));
    refused(ResultCode.DELETE_CONFLICT, deleteIdentity("AIDAU"));
    ok(putChanged(identity("AIDAU").clearDocuments()));
    refused(ResultCode.DELETE_CONFLICT, deleteIdentity("AIDAU"));
    ok(putChanged(identity("AGPAG").clearAttachedPolicies()));
    refused(ResultCode.DELETE_CONFLICT, deleteIdentity("AGPAG"));
    ok(putChanged(identity("AIDAU").clearGroups()));
    ok(put(key("AKIA", "AIDAU")));
    refused(ResultCode.DELETE_CONFLICT, deleteIdentity("AIDAU"));
    ok(deleteKey("AKIA"));
    refused(ResultCode.DELETE_CONFLICT, deleteIdentity("AROAR"));
    ok(putChanged(identity("AROAR").clearBuiltInPolicies()));
    ok(putChanged(identity("ANPAP").setVersionsMade(2).addDocuments(document("v2"))));
    refused(ResultCode.DELETE_CONFLICT, deleteIdentity("ANPAP"));
    ok(putChanged(identity("ANPAP").removeDocuments(1)));
    for (String id : List.of("ANPAP", "AIDAU", "AGPAG", "AROAR", "OIDCIDP")) {
      ok(deleteIdentity(id));
    }
  }

  /** Which apply keeps, whoever changes the policy. */
  @Test
  void attachmentsAreCounted() throws Exception {
    ok(putNew(policy("p").setAttachments(7)));
    IdentityRow.Builder read = identity("ANPAP");
    assertEquals(0, read.getAttachments());
    ok(putNew(user("u").addAttachedPolicies("ANPAP")));
    ok(putNew(group("u").addAttachedPolicies("ANPAP")));
    ok(putNew(role("u").addAttachedPolicies("ANPAP")));
    assertEquals(3, identity("ANPAP").getAttachments());
    ok(putChanged(read.setDescription("changed"))); // attaching is no change of the policy
    assertEquals(3, identity("ANPAP").getAttachments());
    ok(putChanged(identity("AIDAU").clearAttachedPolicies()));
    assertEquals(2, identity("ANPAP").getAttachments());
    refused(ResultCode.NO_SUCH_ENTITY, putChanged(identity("AIDAU").addAttachedPolicies("AGPAU")));
  }

  @Test
  void aUserHasTenGroups() throws Exception {
    IdentityRow.Builder user = user("u");
    for (int i = 0; i < 11; i++) {
      ok(putNew(group("g" + i)));
      user.addGroups("AGPAG" + i);
    }
    refused(ResultCode.LIMIT_EXCEEDED, putNew(user));
    ok(putNew(user.clone().clearGroups().addAllGroups(user.getGroupsList().subList(0, 10))));
  }

  @ParameterizedTest
  @CsvSource({
    "IDENTITY_USER, 5000",
    "IDENTITY_GROUP, 300",
    "IDENTITY_ROLE, 1000",
    "IDENTITY_POLICY, 1500",
    "IDENTITY_PROVIDER, 100"
  })
  void eachKindHasALimit(IdentityKind kind, int limit) throws Exception {
    for (int i = 0; i < limit; i++) {
      ok(putNew(some(kind, "n" + i)));
    }
    refused(ResultCode.LIMIT_EXCEEDED, putNew(some(kind, "more")));
    ok(deleteIdentity(some(kind, "n7").getId()));
    ok(putNew(some(kind, "more")));
  }

  private static IdentityRow.Builder some(IdentityKind kind, String name) {
    return switch (kind) {
      case IDENTITY_USER -> user(name);
      case IDENTITY_GROUP -> group(name);
      case IDENTITY_ROLE -> role(name);
      case IDENTITY_POLICY -> policy(name);
      case IDENTITY_PROVIDER -> provider(name);
      case IDENTITY_NONE, UNRECOGNIZED -> throw new IllegalArgumentException(kind.name());
    };
  }
}
