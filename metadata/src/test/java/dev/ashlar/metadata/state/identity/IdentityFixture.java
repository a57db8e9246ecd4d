package dev.ashlar.metadata.state.identity;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.metadata.memory.MemoryMetadata;
import dev.ashlar.metadata.state.apply.MetadataVersion;
import dev.ashlar.protocol.client.TestIdentities;
import dev.ashlar.protocol.message.AccountQuery;
import dev.ashlar.protocol.message.AccountRow;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.IdentityRow;
import dev.ashlar.protocol.message.ResultCode;
import java.time.Clock;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;

/** Metadata with one account, in which identities are in use. */
abstract class IdentityFixture {
  final MemoryMetadata metadata =
      MemoryMetadata.ofVersion(MetadataVersion.IDENTITIES, Clock.systemUTC());

  @BeforeEach
  void createAccount() throws Exception {
    ok(TestIdentities.putNew(TestIdentities.account(TestIdentities.ACCOUNT)));
  }

  final CommandResult ok(Command.Builder command) throws Exception {
    CommandResult result = metadata.submit(command);
    assertEquals(ResultCode.OK, result.getCode(), command::toString);
    return result;
  }

  final void refused(ResultCode code, Command.Builder command) throws Exception {
    assertEquals(code, metadata.submit(command).getCode(), command::toString);
  }

  final AccountRow.Builder account() throws Exception {
    AccountQuery query = AccountQuery.newBuilder().setId(TestIdentities.ACCOUNT).build();
    return metadata.account(query).orElseThrow().getAccount().toBuilder();
  }

  /** Increases with every change of the account. */
  final long revision() throws Exception {
    AccountQuery query = AccountQuery.newBuilder().setId(TestIdentities.ACCOUNT).build();
    return metadata.account(query).orElseThrow().getState().getRevision();
  }

  final IdentityRow.Builder identity(String id) throws Exception {
    return metadata.identities(TestIdentities.ACCOUNT, List.of(id)).getFirst().toBuilder();
  }
}
