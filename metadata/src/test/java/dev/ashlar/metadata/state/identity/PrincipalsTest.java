package dev.ashlar.metadata.state.identity;

import static dev.ashlar.protocol.client.TestIdentities.ACCOUNT;
import static dev.ashlar.protocol.client.TestIdentities.deleteIdentity;
import static dev.ashlar.protocol.client.TestIdentities.deleteKey;
import static dev.ashlar.protocol.client.TestIdentities.document;
import static dev.ashlar.protocol.client.TestIdentities.group;
import static dev.ashlar.protocol.client.TestIdentities.key;
import static dev.ashlar.protocol.client.TestIdentities.policy;
import static dev.ashlar.protocol.client.TestIdentities.put;
import static dev.ashlar.protocol.client.TestIdentities.putChanged;
import static dev.ashlar.protocol.client.TestIdentities.putNew;
import static dev.ashlar.protocol.client.TestIdentities.user;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.protocol.client.TestIdentities;
import dev.ashlar.protocol.message.AccountRow;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.IdentityRow;
import dev.ashlar.protocol.message.PrincipalAnswer;
import dev.ashlar.protocol.message.PrincipalAnswer.State;
import dev.ashlar.protocol.message.PrincipalQuery;
import java.util.List;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** Who has signed a request, and what a gateway may keep of it. */
class PrincipalsTest extends IdentityFixture {
  private PrincipalAnswer principal(PrincipalQuery.Builder query) throws Exception {
    return metadata.principal(query.build());
  }

  private static PrincipalQuery.Builder byKey(String accessKey) {
    return PrincipalQuery.newBuilder().setAccessKey(accessKey);
  }

  private static List<String> names(List<IdentityRow> rows) {
    return rows.stream().map(IdentityRow::getName).toList();
  }

  @Test
  void policiesOfTheUserAndOfItsGroupsCountOnce() throws Exception {
    ok(putNew(policy("direct").setVersionsMade(2).addDocuments(document("v2").setText("2"))));
    ok(putNew(policy("grouped")));
    ok(putNew(policy("unused")));
    ok(
        putNew(
            group("g")
                .addAttachedPolicies("ANPADIRECT")
                .addAttachedPolicies("ANPAGROUPED")
                .addBuiltInPolicies("ReadOnly")
                .addDocuments(document("inline"))));
    ok(putNew(user("u").addGroups("AGPAG").addAttachedPolicies("ANPADIRECT")));
    ok(put(key("AKIA", "AIDAU")));
    ok(putChanged(identity("ANPADIRECT").setDefaultVersion("v2")));
    PrincipalAnswer answer = principal(byKey("AKIA"));
    assertEquals(State.PRESENT, answer.getState());
    assertEquals(ACCOUNT, answer.getAccount().getId());
    assertEquals(List.of("direct", "grouped"), names(answer.getPoliciesList()));
    assertEquals(1, answer.getPolicies(0).getDocumentsCount(), "only the default version");
    assertEquals("2", answer.getPolicies(0).getDocuments(0).getText());
    assertEquals("inline", answer.getGroups(0).getDocuments(0).getName());
    assertEquals("ReadOnly", answer.getGroups(0).getBuiltInPolicies(0));
    assertFalse(answer.getGroups(0).getDocuments(0).getText().isEmpty());
  }

  @Test
  void theRootUserHasNoIdentity() throws Exception {
    ok(put(key("AKIA", "")));
    PrincipalAnswer answer = principal(byKey("AKIA"));
    assertEquals(ACCOUNT, answer.getAccount().getId());
    assertFalse(answer.hasIdentity());
    PrincipalAnswer bySession = principal(PrincipalQuery.newBuilder().setAccount(ACCOUNT));
    assertEquals(State.PRESENT, bySession.getState());
    assertFalse(bySession.hasCredential());
  }

  @Test
  void whatDoesNotExistIsAbsent() throws Exception {
    ok(putNew(group("g")));
    assertEquals(State.ABSENT, principal(byKey("none")).getState());
    assertEquals(State.ABSENT, principal(PrincipalQuery.newBuilder()).getState());
    PrincipalQuery.Builder query = PrincipalQuery.newBuilder().setAccount(ACCOUNT);
    assertEquals(State.ABSENT, principal(query.setIdentityId("AIDA")).getState());
    assertEquals(
        State.ABSENT, principal(query.setIdentityId("AGPAG")).getState(), "a group signs nothing");
    assertEquals(
        State.ABSENT,
        principal(query.setIdentityId("AIDA").setKnownRevision(revision())).getState());
  }

  /** So a gateway that knows the revision knows all of it. */
  @Test
  void everyChangeOfTheAccountIncreasesTheRevision() throws Exception {
    long last = revision();
    List<Supplier<Command.Builder>> changes =
        List.of(
            () -> putNew(policy("p")),
            () -> putNew(group("g")),
            () -> putNew(user("u")),
            () -> put(key("AKIA", "AIDAU")),
            () -> putChanged(read("AIDAU").addGroups("AGPAG")),
            () -> putChanged(read("AGPAG").addAttachedPolicies("ANPAP")),
            () -> putChanged(read("ANPAP").setDocuments(0, document("v1").setText("new"))),
            () -> deleteKey("AKIA"),
            () -> putChanged(read("AIDAU").clearGroups()),
            () -> deleteIdentity("AIDAU"),
            () -> putChanged(readAccount().setName("new")));
    for (Supplier<Command.Builder> change : changes) {
      long revision = ok(change.get()).getVersion();
      assertEquals(revision, revision());
      assertTrue(revision > last);
      last = revision;
    }
    ok(putNew(TestIdentities.account("555566667777")));
    assertEquals(last, revision(), "not with other accounts");
  }

  private IdentityRow.Builder read(String id) {
    try {
      return identity(id);
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  private AccountRow.Builder readAccount() {
    try {
      return account();
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void aRefusedCommandKeepsTheRevision() throws Exception {
    ok(putNew(user("u")));
    long before = revision();
    metadata.submit(putNew(user("u")));
    assertEquals(before, revision());
  }
}
