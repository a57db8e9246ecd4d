package dev.ashlar.metadata.state.identity;

import static dev.ashlar.protocol.client.TestIdentities.ACCOUNT;
import static dev.ashlar.protocol.client.TestIdentities.deleteKey;
import static dev.ashlar.protocol.client.TestIdentities.group;
import static dev.ashlar.protocol.client.TestIdentities.key;
import static dev.ashlar.protocol.client.TestIdentities.put;
import static dev.ashlar.protocol.client.TestIdentities.putNew;
import static dev.ashlar.protocol.client.TestIdentities.user;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ashlar.protocol.client.TestIdentities;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CredentialRow;
import dev.ashlar.protocol.message.PrincipalAnswer;
import dev.ashlar.protocol.message.PrincipalAnswer.State;
import dev.ashlar.protocol.message.PrincipalQuery;
import dev.ashlar.protocol.message.PutAccessKey;
import dev.ashlar.protocol.message.PutCredential;
import dev.ashlar.protocol.message.ResultCode;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class AccessKeyCommandsTest extends IdentityFixture {
  private static final String OTHER = "555566667777";

  private static Arguments bad(String what, PutAccessKey.Builder key) {
    return Arguments.of(what, ResultCode.INVALID_COMMAND, key);
  }

  private static Arguments absent(String what, PutAccessKey.Builder key) {
    return Arguments.of(what, ResultCode.NO_SUCH_ENTITY, key);
  }

  static Stream<Arguments> keys() {
    return Stream.of(
        Arguments.of("shortest", ResultCode.OK, key("abc", "")),
        bad("short", key("ab", "")),
        bad("long", key("a".repeat(129), "")),
        bad("slash", key("a/b", "")),
        bad("comma", key("a,b", "")),
        bad("no secret", key("abc", "").clearSecret()),
        bad("large secret", key("abc", "").setSecret(ByteString.copyFrom(new byte[1025]))),
        bad("long name of the sealing key", key("abc", "").setSealedBy("s".repeat(129))),
        absent("no account", key("abc", "").setAccount("")),
        absent("unknown account", key("abc", "").setAccount("999999999999")),
        absent("unknown user", key("abc", "AIDANOBODY")),
        absent("of a group", key("abc", "AGPAG")));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("keys")
  void keyIsCreatedOrRefused(String what, ResultCode code, PutAccessKey.Builder key)
      throws Exception {
    ok(putNew(group("g")));
    refused(code, put(key));
  }

  @Test
  void aKeyIsUniqueAmongAllAccounts() throws Exception {
    ok(putNew(TestIdentities.account(OTHER)));
    ok(put(key("AKIA", "")));
    refused(ResultCode.ENTITY_ALREADY_EXISTS, put(key("AKIA", "")));
    PutAccessKey.Builder stolen = key("AKIA", "").setAccount(OTHER);
    refused(ResultCode.ENTITY_ALREADY_EXISTS, put(stolen.clone()));
    long revision = metadata.accessKeys(ACCOUNT, "").getFirst().getRevision();
    refused(ResultCode.NO_SUCH_ENTITY, put(stolen.setExpectedRevision(revision)));
    Command.Builder deletion = deleteKey("AKIA");
    deletion.getDeleteAccessKeyBuilder().setAccount(OTHER);
    refused(ResultCode.NO_SUCH_ENTITY, deletion);
  }

  @Test
  void aUserHasTwoKeys() throws Exception {
    ok(putNew(user("u")));
    for (String user : new String[] {"", "AIDAU"}) {
      ok(put(key(user + "one", user)));
      ok(put(key(user + "two", user).setInactive(true)));
      refused(ResultCode.LIMIT_EXCEEDED, put(key(user + "three", user)));
      ok(deleteKey(user + "one"));
      ok(put(key(user + "three", user)));
      assertEquals(2, metadata.accessKeys(ACCOUNT, user).size());
    }
  }

  @Test
  void aKeyIsChangedWithTheRevisionThatWasRead() throws Exception {
    ok(putNew(user("u")));
    ok(put(key("AKIA", "AIDAU").setSealedBy("master-1")));
    CredentialRow read = metadata.accessKeys(ACCOUNT, "AIDAU").getFirst();
    assertEquals(TestIdentities.canonicalId(ACCOUNT), read.getOwner());
    assertEquals("master-1", read.getSealedBy());
    ok(put(key(read).setInactive(true)));
    refused(ResultCode.CONDITIONAL_CONFLICT, put(key(read).setInactive(false)));
    CredentialRow changed = metadata.accessKeys(ACCOUNT, "AIDAU").getFirst();
    assertTrue(changed.getInactive());
    assertEquals(read.getCreatedAtMs(), changed.getCreatedAtMs());
    refused(ResultCode.NO_SUCH_ENTITY, put(key(changed).setUserId("")));
    Command.Builder deletion = deleteKey("AKIA");
    deletion.getDeleteAccessKeyBuilder().setExpectedRevision(read.getRevision());
    refused(ResultCode.CONDITIONAL_CONFLICT, deletion);
    ok(deleteKey("AKIA"));
    refused(ResultCode.NO_SUCH_ENTITY, deleteKey("AKIA"));
    refused(ResultCode.NO_SUCH_ENTITY, put(key(changed)));
  }

  /** Gateways of earlier builds would accept signatures made with an empty secret. */
  @Test
  void accessKeysAreHiddenFromOlderGateways() throws Exception {
    ok(put(key("AKIA", "")));
    assertEquals(State.PRESENT, principal("AKIA").getState());
    assertTrue(metadata.credential("AKIA").isEmpty());
  }

  private PrincipalAnswer principal(String accessKey) throws Exception {
    return metadata.principal(PrincipalQuery.newBuilder().setAccessKey(accessKey).build());
  }

  @Test
  void aCredentialDoesNotReplaceAKey() throws Exception {
    ok(put(key("AKIA", "")));
    CredentialRow.Builder row =
        CredentialRow.newBuilder().setAccessKey("AKIA").setSecretKey("x").setOwner("me");
    refused(ResultCode.ENTITY_ALREADY_EXISTS, credential(row));
    refused(
        ResultCode.INVALID_COMMAND,
        credential(row.clone().setAccessKey("new").setAccount(ACCOUNT)));
    row.setAccessKey("new").setOwner(TestIdentities.canonicalId(ACCOUNT));
    long before = revision();
    ok(credential(row.clone()));
    assertTrue(revision() > before, "it is one of the account's root user");
    before = revision();
    ok(credential(row.setOwner("me")));
    assertTrue(revision() > before, "it is none any more");
    refused(ResultCode.NO_SUCH_ENTITY, deleteKey("new"));
    assertFalse(principal("new").hasAccount());
    ok(credential(row.setOwner(TestIdentities.canonicalId(ACCOUNT))));
    ok(deleteKey("new"));
    assertEquals(State.ABSENT, principal("new").getState());
  }

  private static Command.Builder credential(CredentialRow.Builder row) {
    return Command.newBuilder().setPutCredential(PutCredential.newBuilder().setCredential(row));
  }
}
