package dev.ashlar.protocol.client;

import static dev.ashlar.protocol.client.TestIdentities.ACCOUNT;
import static dev.ashlar.protocol.client.TestIdentities.account;
import static dev.ashlar.protocol.client.TestIdentities.canonicalId;
import static dev.ashlar.protocol.client.TestIdentities.deleteAccount;
import static dev.ashlar.protocol.client.TestIdentities.deleteIdentity;
import static dev.ashlar.protocol.client.TestIdentities.deleteKey;
import static dev.ashlar.protocol.client.TestIdentities.document;
import static dev.ashlar.protocol.client.TestIdentities.group;
import static dev.ashlar.protocol.client.TestIdentities.key;
import static dev.ashlar.protocol.client.TestIdentities.policy;
import static dev.ashlar.protocol.client.TestIdentities.put;
import static dev.ashlar.protocol.client.TestIdentities.putChanged;
import static dev.ashlar.protocol.client.TestIdentities.putNew;
import static dev.ashlar.protocol.client.TestIdentities.role;
import static dev.ashlar.protocol.client.TestIdentities.user;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.protocol.message.AccountQuery;
import dev.ashlar.protocol.message.BucketConfigQuery;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.CredentialRow;
import dev.ashlar.protocol.message.IdentityKind;
import dev.ashlar.protocol.message.IdentityListQuery;
import dev.ashlar.protocol.message.IdentityRow;
import dev.ashlar.protocol.message.KeyQuery;
import dev.ashlar.protocol.message.PrincipalAnswer;
import dev.ashlar.protocol.message.PrincipalAnswer.State;
import dev.ashlar.protocol.message.PrincipalQuery;
import dev.ashlar.protocol.message.ResultCode;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What every {@link MetadataClient} does with accounts, identities and access keys. */
public abstract class IdentityContract {
  private MetadataClient client;

  /** A fresh one, of a group in which the version with identities is in use. */
  protected abstract MetadataClient newClient() throws Exception;

  protected abstract void closeClient() throws Exception;

  @BeforeEach
  void openClient() throws Exception {
    client = newClient();
    ok(putNew(account(ACCOUNT)));
  }

  @AfterEach
  void close() throws Exception {
    closeClient();
  }

  private CommandResult ok(Command.Builder command) throws MetadataUnavailableException {
    CommandResult result = client.submit(command);
    assertEquals(ResultCode.OK, result.getCode());
    return result;
  }

  private static List<String> names(List<IdentityRow> rows) {
    return rows.stream().map(IdentityRow::getName).toList();
  }

  @Test
  void accountsAreFoundByEachOfTheirNames() throws Exception {
    ok(putNew(account("999999999999").setAlias("nines")));
    for (AccountQuery.Builder query :
        List.of(
            AccountQuery.newBuilder().setId("999999999999"),
            AccountQuery.newBuilder().setCanonicalId(canonicalId("999999999999")),
            AccountQuery.newBuilder().setEmail("rOOT@999999999999.example"),
            AccountQuery.newBuilder().setAlias("nines"))) {
      assertEquals(
          "Account 999999999999",
          client.account(query.build()).orElseThrow().getAccount().getName());
    }
    assertTrue(client.account(AccountQuery.newBuilder().setAlias("none").build()).isEmpty());
    assertEquals(2, client.accounts("", 10).size());
    assertEquals(1, client.accounts("", 1).size());
    assertEquals("999999999999", client.accounts(ACCOUNT, 10).getFirst().getAccount().getId());
    ok(deleteAccount("999999999999"));
    assertEquals(List.of(), client.accounts(ACCOUNT, 10));
  }

  @Test
  void anIdentityIsWrittenBackWithTheRevisionThatWasRead() throws Exception {
    CommandResult made = ok(putNew(user("Ann").addDocuments(document("inline"))));
    IdentityRow read = client.identity(ACCOUNT, IdentityKind.IDENTITY_USER, "aNN").orElseThrow();
    assertEquals(made.getVersion(), read.getRevision());
    assertEquals(made.getLastModifiedMs(), read.getCreatedAtMs());
    assertEquals("{\"Statement\":[]}", read.getDocuments(0).getText());
    ok(putChanged(read.toBuilder().setPath("/x/")));
    assertEquals(
        ResultCode.CONDITIONAL_CONFLICT,
        client.submit(putChanged(read.toBuilder().setPath("/y/"))).getCode());
    IdentityRow changed = client.identities(ACCOUNT, List.of("none", read.getId())).getFirst();
    assertEquals("/x/", changed.getPath());
    assertEquals(read.getDocumentsList(), changed.getDocumentsList());
    ok(putChanged(changed.toBuilder().clearDocuments()));
    ok(deleteIdentity(read.getId()));
    assertEquals(List.of(), client.identities(ACCOUNT, List.of(read.getId())));
  }

  @Test
  void identitiesAreListedInPages() throws Exception {
    ok(putNew(group("g")));
    ok(putNew(policy("p")));
    for (String name : List.of("b", "A", "c")) {
      ok(putNew(user(name).setPath("/team/").addGroups("AGPAG").addAttachedPolicies("ANPAP")));
    }
    ok(putNew(user("d").setPath("/team2/")));
    IdentityListQuery.Builder users =
        IdentityListQuery.newBuilder()
            .setAccount(ACCOUNT)
            .setKind(IdentityKind.IDENTITY_USER)
            .setMax(2);
    IdentityPage page = client.identities(users.build());
    assertEquals(List.of("A", "b"), names(page.identities()));
    assertTrue(page.truncated());
    users.setAfter(page.identities().getLast());
    page = client.identities(users.build());
    assertEquals(List.of("c", "d"), names(page.identities()));
    assertFalse(page.truncated());
    users.setPathPrefix("/team/").clearAfter().setMax(10);
    assertEquals(List.of("A", "b", "c"), names(client.identities(users.build()).identities()));
    users.setMemberOf("AGPAG");
    assertEquals(List.of("A", "b", "c"), names(client.identities(users.build()).identities()));
    users.setAttachedTo("ANPAP").setAfter(user("b"));
    assertEquals(List.of("c"), names(client.identities(users.build()).identities()));
  }

  private PrincipalAnswer callerOfObject(PrincipalQuery.Builder query) throws Exception {
    KeyQuery.Builder key = KeyQuery.newBuilder().setBucket("b").setKey("k");
    BucketConfigQuery.Builder config = BucketConfigQuery.newBuilder().setBucket("b");
    return Objects.requireNonNull(
        client.object(key.build(), config.build(), query.build()).caller());
  }

  /** One read of an object confirms a cached principal, or brings the present one. */
  @Test
  void readsConfirmTheirCaller() throws Exception {
    ok(putNew(policy("p")));
    ok(putNew(group("g").addDocuments(document("of-group"))));
    ok(putNew(user("u").addGroups("AGPAG").addAttachedPolicies("ANPAP")));
    ok(put(key("AKIA1", "AIDAU")));
    PrincipalQuery.Builder query = PrincipalQuery.newBuilder().setAccessKey("AKIA1");
    PrincipalAnswer known = client.principal(query.build());
    assertEquals(State.PRESENT, known.getState());
    assertEquals("u", known.getIdentity().getName());
    assertEquals(1, known.getGroups(0).getDocumentsCount());
    assertEquals(1, known.getPolicies(0).getDocumentsCount());
    assertEquals("secret of AKIA1", known.getCredential().getSecret().toStringUtf8());
    query.setKnownRevision(known.getRevision());
    PrincipalAnswer confirmed = callerOfObject(query);
    assertEquals(State.UNCHANGED, confirmed.getState());
    assertFalse(confirmed.hasCredential());
    CredentialRow row = client.accessKeys(ACCOUNT, "AIDAU").getFirst();
    ok(put(key(row).setInactive(true)));
    BucketConfigQuery bucket = BucketConfigQuery.newBuilder().setBucket("b").build();
    PrincipalAnswer ofBucket = client.bucket(bucket, query.build()).caller();
    assertTrue(Objects.requireNonNull(ofBucket).getCredential().getInactive());
    ok(deleteKey("AKIA1"));
    assertEquals(State.ABSENT, callerOfObject(query).getState());
    assertEquals(List.of(), client.accessKeys(ACCOUNT, "AIDAU"));
  }

  @Test
  void aRoleIsAPrincipalWithoutAKey() throws Exception {
    ok(putNew(role("r")));
    PrincipalQuery.Builder query =
        PrincipalQuery.newBuilder().setAccount(ACCOUNT).setIdentityId("AROAR");
    assertEquals("r", client.principal(query.build()).getIdentity().getName());
    ok(deleteIdentity("AROAR"));
    assertEquals(State.ABSENT, client.principal(query.build()).getState());
  }
}
