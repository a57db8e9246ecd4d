package dev.ashlar.server.account;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.gateway.principal.RootAccount;
import dev.ashlar.gateway.principal.SecretSeals;
import dev.ashlar.metadata.memory.MemoryMetadata;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CreateBucket;
import dev.ashlar.protocol.message.CredentialRow;
import dev.ashlar.protocol.message.IdentityKind;
import dev.ashlar.protocol.message.IdentityRow;
import dev.ashlar.protocol.message.PrincipalAnswer;
import dev.ashlar.protocol.message.PrincipalQuery;
import dev.ashlar.protocol.message.PutIdentity;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.server.account.Accounts.RefusedException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class AccountsTest {
  private static final String FIRST = "0123456789abcdef0123456789abcdef";
  private static final String CANONICAL = "ab".repeat(32);

  private final MemoryMetadata metadata =
      MemoryMetadata.withDrives(new Profile(4, 2, Profile.DEFAULT_STRIPE_UNIT), 6, 8);
  private final Accounts accounts = new Accounts(metadata, FIRST, "ROOTKEY", SecretSeals.NONE);

  private static AccountSpec spec(String id, String key) {
    return new AccountSpec(id, "name of " + id, id + "@x.example", "", key, "secret of " + key);
  }

  private Accounts.Info info(String id) throws Exception {
    return accounts.list().stream().filter(it -> it.id().equals(id)).findFirst().orElseThrow();
  }

  private PrincipalAnswer signer(String accessKey) throws Exception {
    return metadata.principal(PrincipalQuery.newBuilder().setAccessKey(accessKey).build());
  }

  @Test
  void accountsOfAFileAreThereAndASecondStartChangesNothing() throws Exception {
    List<AccountSpec> file = List.of(spec("111111111111", "AK1"), spec("222222222222", "AK2"));
    accounts.ensureAll(file);
    List<Accounts.Info> first = accounts.list();
    long revision = signer("AK1").getRevision();
    accounts.ensureAll(file);
    assertEquals(first, accounts.list());
    assertEquals(revision, signer("AK1").getRevision());
    Accounts.Info one = info("111111111111");
    assertEquals(List.of("AK1"), one.accessKeys());
    assertEquals(64, one.canonicalId().length());
    assertNotEquals(one.canonicalId(), info("222222222222").canonicalId());
    assertEquals(List.of("ROOTKEY"), info(RootAccount.accountId(FIRST)).accessKeys());
    assertEquals("secret of AK1", signer("AK1").getCredential().getSecret().toStringUtf8());
  }

  @Test
  void whatHasChangedInTheFileIsChanged() throws Exception {
    accounts.ensureAll(List.of(spec("111111111111", "AK1")));
    String canonical = info("111111111111").canonicalId();
    accounts.ensureAll(
        List.of(new AccountSpec("111111111111", "new", "", canonical, "AK1", "new secret")));
    assertEquals(
        new Accounts.Info("111111111111", "new", "", canonical, List.of("AK1")),
        info("111111111111"));
    assertEquals("new secret", signer("AK1").getCredential().getSecret().toStringUtf8());
  }

  @Test
  void secretsAreSealedOnceThereIsAMasterKey() throws Exception {
    List<AccountSpec> file = List.of(spec("111111111111", "AK1"));
    accounts.ensureAll(file);
    SecretSeals seals = new SecretSeals(Map.of("k", new byte[SecretSeals.KEY_BYTES]));
    Accounts sealing = new Accounts(metadata, FIRST, "ROOTKEY", seals);
    sealing.ensureAll(file);
    CredentialRow row = signer("AK1").getCredential();
    assertEquals("k", row.getSealedBy());
    assertEquals("secret of AK1", seals.open(row));
    sealing.ensureAll(file);
    assertEquals(row, signer("AK1").getCredential());
  }

  @Test
  void whatContradictsTheStoreIsRefused() throws Exception {
    accounts.ensureAll(List.of(spec("111111111111", "AK1")));
    refused("for ever", new AccountSpec("111111111111", "n", "", CANONICAL, "AK1", "long enough"));
    refused("somebody else", spec("222222222222", "AK1"));
    refused("root credential", spec("333333333333", "ROOTKEY"));
    refused("root credential", spec(RootAccount.accountId(FIRST), "AK3"));
    refused(
        "e-mail",
        new AccountSpec("444444444444", "n", "111111111111@X.example", "", "AK4", "long enough"));
    accounts.ensureAll(List.of(spec("111111111111", "AK5")));
    refused("two other access keys", spec("111111111111", "AK6"));
  }

  private void refused(String why, AccountSpec spec) {
    RefusedException e =
        assertThrows(RefusedException.class, () -> accounts.ensureAll(List.of(spec)));
    assertTrue(String.valueOf(e.getMessage()).contains(why), e.getMessage());
  }

  @Test
  void operatorsCreateAndDeleteAccountsAndKeys() throws Exception {
    Accounts.NewKey made = accounts.create("", "somebody", "");
    assertEquals(made.account(), signer(made.accessKey()).getAccount().getId());
    Accounts.NewKey second = accounts.createKey(made.account());
    assertThrows(RefusedException.class, () -> accounts.createKey(made.account()));
    accounts.deleteKey(made.account(), made.accessKey());
    assertEquals(PrincipalAnswer.State.ABSENT, signer(made.accessKey()).getState());
    assertThrows(
        RefusedException.class, () -> accounts.deleteKey(made.account(), made.accessKey()));
    accounts.delete(made.account());
    assertEquals(PrincipalAnswer.State.ABSENT, signer(second.accessKey()).getState());
    assertThrows(RefusedException.class, () -> accounts.delete(made.account()));
    assertThrows(RefusedException.class, () -> accounts.create("12", "somebody", ""));
  }

  @Test
  void usersGetKeysThatAreKnownFromElsewhere() throws Exception {
    accounts.ensureAll(List.of(spec("111111111111", "AK1")));
    String account = RootAccount.accountId(FIRST);
    for (String name : List.of("alice", "bob")) {
      metadata.require(
          Command.newBuilder()
              .setPutIdentity(
                  PutIdentity.newBuilder()
                      .setIdentity(
                          IdentityRow.newBuilder()
                              .setKind(IdentityKind.IDENTITY_USER)
                              .setAccount(account)
                              .setId("AIDA" + name)
                              .setName(name)
                              .setPath("/"))));
    }
    accounts.putUserKey("alice", "alice", "first secret", true);
    accounts.putUserKey("alice", "alice", "second secret", false);
    CredentialRow key = signer("alice").getCredential();
    assertEquals("second secret", key.getSecret().toStringUtf8());
    assertEquals("AIDAalice", key.getUserId());
    assertTrue(key.getInactive());
    refusedKey("somebody else", "bob", "alice");
    refusedKey("somebody else", "bob", "AK1");
    refusedKey("root credential", "bob", "ROOTKEY");
    refusedKey("no user carol", "carol", "carol");
    refusedKey("visible ASCII", "bob", "a/b");
  }

  private void refusedKey(String why, String user, String accessKey) {
    RefusedException e =
        assertThrows(
            RefusedException.class, () -> accounts.putUserKey(user, accessKey, "secret", true));
    assertTrue(String.valueOf(e.getMessage()).contains(why), e.getMessage());
  }

  @Test
  void anAccountWithBucketsStays() throws Exception {
    Accounts.NewKey made = accounts.create("111111111111", "somebody", "");
    metadata.require(
        Command.newBuilder()
            .setCreateBucket(
                CreateBucket.newBuilder().setName("bkt").setOwner(made.canonicalId())));
    assertThrows(RefusedException.class, () -> accounts.delete("111111111111"));
    assertEquals("somebody", info("111111111111").name());
    assertThrows(RefusedException.class, () -> accounts.create("111111111111", "again", ""));
  }
}
