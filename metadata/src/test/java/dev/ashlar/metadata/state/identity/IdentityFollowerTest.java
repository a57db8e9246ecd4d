package dev.ashlar.metadata.state.identity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.metadata.memory.MemoryTable;
import dev.ashlar.metadata.state.MetadataState;
import dev.ashlar.metadata.state.apply.MetadataVersion;
import dev.ashlar.protocol.client.TestIdentities;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CredentialRow;
import dev.ashlar.protocol.message.MetadataAnswer;
import dev.ashlar.protocol.message.MetadataQuery;
import dev.ashlar.protocol.message.PrincipalAnswer.State;
import dev.ashlar.protocol.message.PrincipalQuery;
import dev.ashlar.protocol.message.PutCredential;
import java.util.Arrays;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A peer that takes over what another peer of its process has executed. */
class IdentityFollowerTest extends IdentityFixture {
  private final MemoryTable table = new MemoryTable();
  private MetadataState follower = new MetadataState(table);

  @BeforeEach
  void startFollower() {
    table.rows().putAll(metadata.table().rows());
    follower = new MetadataState(table, MetadataVersion.IDENTITIES);
    metadata.observe((command, applied) -> follower.follow(applied));
  }

  private MetadataAnswer ask(MetadataQuery.Builder query) {
    return follower.reads().answer(table, query.build());
  }

  private State state(String accessKey) {
    PrincipalQuery.Builder caller = PrincipalQuery.newBuilder().setAccessKey(accessKey);
    return ask(MetadataQuery.newBuilder().setBucket("b").setCaller(caller)).getCaller().getState();
  }

  @Test
  void aRemovedKeyIsRemovedThereAsWell() throws Exception {
    ok(TestIdentities.putNew(TestIdentities.user("u")));
    ok(TestIdentities.put(TestIdentities.key("AKIA", "AIDAU")));
    assertEquals(State.PRESENT, state("AKIA"));
    ok(TestIdentities.deleteKey("AKIA"));
    assertEquals(State.ABSENT, state("AKIA"));
  }

  /** Of builds from before there were access keys. */
  @Test
  void aRemovedCredentialIsRemovedThereAsWell() throws Exception {
    CredentialRow.Builder row =
        CredentialRow.newBuilder()
            .setAccessKey("old")
            .setSecretKey("s")
            .setOwner(TestIdentities.canonicalId(TestIdentities.ACCOUNT));
    MetadataQuery.Builder query = MetadataQuery.newBuilder().setCredential("old");
    ok(Command.newBuilder().setPutCredential(PutCredential.newBuilder().setCredential(row)));
    assertTrue(ask(query).hasCredential());
    ok(TestIdentities.deleteKey("old"));
    assertEquals(MetadataAnswer.getDefaultInstance(), ask(query));
    assertEquals(State.ABSENT, state("old"));
  }

  @Test
  void bothHaveTheSameRows() throws Exception {
    ok(TestIdentities.putNew(TestIdentities.policy("p")));
    ok(TestIdentities.putNew(TestIdentities.user("u").addAttachedPolicies("ANPAP")));
    assertEquals(metadata.table().rows().keySet(), table.rows().keySet());
    table
        .rows()
        .forEach(
            (key, value) -> assertTrue(Arrays.equals(value, metadata.table().rows().get(key))));
  }
}
