package dev.ashlar.metadata.state.identity;

import static dev.ashlar.protocol.client.TestIdentities.ACCOUNT;
import static dev.ashlar.protocol.client.TestIdentities.canonicalId;
import static dev.ashlar.protocol.client.TestIdentities.deleteAccount;
import static dev.ashlar.protocol.client.TestIdentities.deleteIdentity;
import static dev.ashlar.protocol.client.TestIdentities.key;
import static dev.ashlar.protocol.client.TestIdentities.put;
import static dev.ashlar.protocol.client.TestIdentities.putChanged;
import static dev.ashlar.protocol.client.TestIdentities.putNew;
import static dev.ashlar.protocol.client.TestIdentities.user;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ashlar.metadata.memory.TestBlobs;
import dev.ashlar.protocol.client.TestIdentities;
import dev.ashlar.protocol.message.AccountQuery;
import dev.ashlar.protocol.message.AccountRow;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CredentialRow;
import dev.ashlar.protocol.message.DeleteBucket;
import dev.ashlar.protocol.message.PrincipalAnswer;
import dev.ashlar.protocol.message.PrincipalAnswer.State;
import dev.ashlar.protocol.message.PrincipalQuery;
import dev.ashlar.protocol.message.PutCredential;
import dev.ashlar.protocol.message.ResultCode;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class AccountCommandsTest extends IdentityFixture {
  private static final String OTHER = "555566667777";

  private static AccountRow.Builder other() {
    return TestIdentities.account(OTHER);
  }

  private static Arguments row(String what, ResultCode code, AccountRow.Builder account) {
    return Arguments.of(what, code, account);
  }

  private static Arguments bad(String what, AccountRow.Builder account) {
    return row(what, ResultCode.INVALID_COMMAND, account);
  }

  static Stream<Arguments> accounts() {
    return Stream.of(
        row("without e-mail and alias", ResultCode.OK, other().clearEmail()),
        row("with an owner from before", ResultCode.OK, other().setCanonicalId("0a".repeat(16))),
        bad("short id", other().setId("12345678901")),
        bad("id with letters", other().setId("12345678901a")),
        bad("signed id", other().setId("+12345678901")),
        bad("short canonical id", other().setCanonicalId("ab")),
        bad("canonical id in upper case", other().setCanonicalId("AB".repeat(32))),
        bad("no name", other().setName("")),
        bad("long name", other().setName("n".repeat(129))),
        bad("name with a line feed", other().setName("a\nb")),
        bad("no e-mail", other().setEmail("nobody")),
        bad("e-mail with a space", other().setEmail("a b@c")),
        bad("long e-mail", other().setEmail("a@" + "b".repeat(260))),
        bad("alias in upper case", other().setAlias("Alias")),
        bad("short alias", other().setAlias("ab")),
        row("id is taken", ResultCode.ENTITY_ALREADY_EXISTS, other().setId(ACCOUNT)),
        row(
            "canonical id is taken",
            ResultCode.ENTITY_ALREADY_EXISTS,
            other().setCanonicalId(canonicalId(ACCOUNT))),
        row(
            "e-mail is taken",
            ResultCode.ENTITY_ALREADY_EXISTS,
            other().setEmail("ROOT@" + ACCOUNT + ".example")));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("accounts")
  void accountIsCreatedOrRefused(String what, ResultCode code, AccountRow.Builder account)
      throws Exception {
    refused(code, putNew(account));
  }

  @Test
  void changedNamesAreFreeForOthers() throws Exception {
    ok(putChanged(account().setAlias("first").setEmail("a@b")));
    refused(ResultCode.ENTITY_ALREADY_EXISTS, putNew(other().setAlias("first")));
    ok(putNew(other().setAlias("second")));
    refused(ResultCode.ENTITY_ALREADY_EXISTS, putChanged(account().setAlias("second")));
    AccountRow.Builder read = account();
    ok(putChanged(read.clone().setAlias("third").setEmail("c@d")));
    refused(ResultCode.CONDITIONAL_CONFLICT, putChanged(read));
    ok(putNew(TestIdentities.account("888888888888").setAlias("first").setEmail("A@B")));
    refused(
        ResultCode.INVALID_COMMAND,
        putChanged(account().setCanonicalId(canonicalId("1".repeat(12)))));
    refused(
        ResultCode.NO_SUCH_ENTITY,
        putChanged(TestIdentities.account("888888888889").setRevision(1)));
  }

  @Test
  void sessionKeyIsKeptByAChangeWithoutOne() throws Exception {
    ByteString key =
        ByteString.copyFrom(new byte[32]).substring(1).concat(ByteString.copyFromUtf8("k"));
    refused(ResultCode.INVALID_COMMAND, putChanged(account().setSessionKey(key.substring(1))));
    ok(putChanged(account().setSessionKey(key)));
    ok(putChanged(account().clearSessionKey().setAlias("first")));
    assertEquals(key, account().getSessionKey());
    assertEquals("first", account().getAlias());
  }

  @Test
  void onlyAnEmptyAccountIsDeleted() throws Exception {
    ok(putNew(user("u")));
    ok(TestBlobs.createBucket("b", canonicalId(ACCOUNT)));
    ok(TestBlobs.createBucket("other", "me"));
    ok(put(key("AKIAROOT", "")));
    refused(ResultCode.DELETE_CONFLICT, deleteAccount(ACCOUNT));
    ok(deleteIdentity("AIDAU"));
    refused(ResultCode.DELETE_CONFLICT, deleteAccount(ACCOUNT));
    ok(Command.newBuilder().setDeleteBucket(DeleteBucket.newBuilder().setName("b")));
    ok(deleteAccount(ACCOUNT));
    refused(ResultCode.NO_SUCH_ENTITY, deleteAccount(ACCOUNT));
    refused(ResultCode.NO_SUCH_ENTITY, putNew(user("u")));
    assertEquals(State.ABSENT, principal("AKIAROOT").getState());
  }

  private PrincipalAnswer principal(String accessKey) throws Exception {
    return metadata.principal(PrincipalQuery.newBuilder().setAccessKey(accessKey).build());
  }

  /** A request that was under way when its account was deleted. */
  @Test
  void aDeletedAccountGetsNoBucketsUntilItIsCreatedAgain() throws Exception {
    long before = revision();
    ok(deleteAccount(ACCOUNT));
    Command.Builder bucket = TestBlobs.createBucket("b", canonicalId(ACCOUNT));
    refused(ResultCode.NO_SUCH_ENTITY, bucket.clone());
    assertTrue(
        metadata
            .account(AccountQuery.newBuilder().setCanonicalId(canonicalId(ACCOUNT)).build())
            .isEmpty());
    ok(putNew(TestIdentities.account(ACCOUNT)));
    ok(bucket);
    assertTrue(revision() > before);
  }

  /** Credentials and buckets from before there were accounts belong to their owner's account. */
  @Test
  void theOwnerFromBeforeBecomesAnAccount() throws Exception {
    String owner = "0a".repeat(16);
    PutCredential.Builder old =
        PutCredential.newBuilder()
            .setCredential(
                CredentialRow.newBuilder()
                    .setAccessKey("old")
                    .setSecretKey("secret")
                    .setOwner(owner));
    ok(Command.newBuilder().setPutCredential(old));
    ok(TestBlobs.createBucket("b", owner));
    assertEquals(0, principal("old").getRevision());
    assertEquals("secret", principal("old").getCredential().getSecretKey());
    ok(putNew(other().setCanonicalId(owner)));
    assertEquals(OTHER, principal("old").getAccount().getId());
    refused(ResultCode.DELETE_CONFLICT, deleteAccount(OTHER));
    ok(Command.newBuilder().setDeleteBucket(DeleteBucket.newBuilder().setName("b")));
    ok(deleteAccount(OTHER));
    assertEquals(State.ABSENT, principal("old").getState());
    assertTrue(metadata.credential("old").isEmpty());
    refused(ResultCode.NO_SUCH_ENTITY, Command.newBuilder().setPutCredential(old));
  }
}
