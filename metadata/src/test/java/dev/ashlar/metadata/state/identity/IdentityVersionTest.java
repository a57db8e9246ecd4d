package dev.ashlar.metadata.state.identity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.metadata.memory.MemoryMetadata;
import dev.ashlar.metadata.memory.TestBlobs;
import dev.ashlar.metadata.state.MetadataState.Applied;
import dev.ashlar.metadata.state.apply.MetadataVersion;
import dev.ashlar.protocol.client.TestIdentities;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CredentialRow;
import dev.ashlar.protocol.message.PutCredential;
import dev.ashlar.protocol.message.ResultCode;
import java.time.Clock;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** While an older version is in use, there are no identities. */
class IdentityVersionTest {
  private static final int BEFORE = MetadataVersion.IDENTITIES - 1;

  static List<Command.Builder> commands() {
    return List.of(
        TestIdentities.putNew(TestIdentities.account(TestIdentities.ACCOUNT)),
        TestIdentities.deleteAccount(TestIdentities.ACCOUNT),
        TestIdentities.putNew(TestIdentities.user("u")),
        TestIdentities.deleteIdentity("AIDAU"),
        TestIdentities.put(TestIdentities.key("AKIA", "")),
        TestIdentities.deleteKey("AKIA"));
  }

  @ParameterizedTest
  @MethodSource("commands")
  void aCommandIsRefusedAndWritesNothing(Command.Builder command) {
    MemoryMetadata metadata = MemoryMetadata.ofVersion(BEFORE, Clock.systemUTC());
    Applied applied = metadata.applyAsIs(metadata.completed(command));
    assertEquals(ResultCode.INVALID_COMMAND, applied.results().getFirst().getCode());
    assertTrue(
        applied.changes().rows().keySet().stream().allMatch(key -> "RX".indexOf(key[0]) >= 0),
        "only the answer and the log position");
  }

  /** Also in the same log entries in which the version is raised. */
  @Test
  void whatWasThereBeforeIsNotRewritten() throws Exception {
    MemoryMetadata metadata = MemoryMetadata.ofVersion(BEFORE, Clock.systemUTC());
    CredentialRow row =
        CredentialRow.newBuilder().setAccessKey("a").setSecretKey("s").setOwner("me").build();
    metadata.require(
        Command.newBuilder().setPutCredential(PutCredential.newBuilder().setCredential(row)));
    metadata.require(TestBlobs.createBucket("b"));
    var before = List.copyOf(metadata.table().rows().headMap(new byte[] {'C'}).values());
    assertEquals(2, before.size());
    MemoryMetadata raised =
        new MemoryMetadata(metadata.table(), Clock.systemUTC(), MetadataVersion.IDENTITIES);
    raised.require(TestIdentities.putNew(TestIdentities.account(TestIdentities.ACCOUNT)));
    assertEquals(before, List.copyOf(metadata.table().rows().headMap(new byte[] {'C'}).values()));
    assertEquals(row, raised.credential("a").orElseThrow());
    assertEquals("me", raised.bucket("b").orElseThrow().getOwner());
  }
}
