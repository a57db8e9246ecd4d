package dev.ashlar.gateway.principal;

import com.google.protobuf.ByteString;
import dev.ashlar.protocol.client.IdentityClient;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.AccountQuery;
import dev.ashlar.protocol.message.AccountRow;
import dev.ashlar.protocol.message.AccountValue;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CredentialRow;
import dev.ashlar.protocol.message.IdentityAnswer;
import dev.ashlar.protocol.message.IdentityQuery;
import dev.ashlar.protocol.message.PrincipalAnswer;
import dev.ashlar.protocol.message.PrincipalQuery;
import dev.ashlar.protocol.message.PutAccount;
import java.math.BigInteger;
import java.util.Optional;

/**
 * Identities, and the access key that the server was started with: it is not stored, so that a
 * restart can change it, and belongs to the root user of the store's first account. That account is
 * created when it is first needed.
 */
public final class RootAccount implements IdentityClient {
  private static final BigInteger ACCOUNT_IDS = BigInteger.TEN.pow(12);

  private final MetadataClient metadata;
  private final CredentialRow credential;
  private final String canonicalId;

  /**
   * @param canonicalId of the first account: 32 hexadecimal digits
   */
  public RootAccount(
      MetadataClient metadata, String accessKey, String secretKey, String canonicalId) {
    this.metadata = metadata;
    this.canonicalId = canonicalId;
    this.credential =
        CredentialRow.newBuilder()
            .setAccessKey(accessKey)
            .setOwner(canonicalId)
            .setSecret(ByteString.copyFromUtf8(secretKey))
            .build();
  }

  /**
   * The id that the first account gets: all gateways choose the same.
   *
   * @param canonicalId 32 hexadecimal digits
   */
  public static String accountId(String canonicalId) {
    return "%012d".formatted(new BigInteger(canonicalId, 16).mod(ACCOUNT_IDS));
  }

  @Override
  public IdentityAnswer identity(IdentityQuery query) throws MetadataUnavailableException {
    if (!query.hasPrincipal()
        || !query.getPrincipal().getAccessKey().equals(credential.getAccessKey())) {
      return metadata.identity(query);
    }
    return IdentityAnswer.newBuilder()
        .setPrincipal(root(query.getPrincipal().getKnownRevision()))
        .build();
  }

  private PrincipalAnswer root(long knownRevision) throws MetadataUnavailableException {
    Optional<AccountRow> account = find();
    if (account.isEmpty()) {
      create();
      account = find();
    }
    if (account.isEmpty()) {
      // Builds without accounts take part still.
      return PrincipalAnswer.getDefaultInstance();
    }
    PrincipalAnswer answer =
        metadata.principal(
            PrincipalQuery.newBuilder()
                .setAccount(account.get().getId())
                .setKnownRevision(knownRevision)
                .build());
    return answer.getState() == PrincipalAnswer.State.PRESENT
        ? answer.toBuilder().setCredential(credential).build()
        : answer;
  }

  private Optional<AccountRow> find() throws MetadataUnavailableException {
    return metadata
        .account(AccountQuery.newBuilder().setCanonicalId(canonicalId).build())
        .map(AccountValue::getAccount);
  }

  private void create() throws MetadataUnavailableException {
    AccountRow row =
        AccountRow.newBuilder()
            .setId(accountId(canonicalId))
            .setCanonicalId(canonicalId)
            .setName("root")
            .build();
    metadata.submit(Command.newBuilder().setPutAccount(PutAccount.newBuilder().setAccount(row)));
  }
}
