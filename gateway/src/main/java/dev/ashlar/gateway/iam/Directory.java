package dev.ashlar.gateway.iam;

import dev.ashlar.gateway.principal.SecretSeals;
import dev.ashlar.gateway.query.QueryError;
import dev.ashlar.gateway.query.QueryException;
import dev.ashlar.protocol.client.IdentityPage;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.AccountQuery;
import dev.ashlar.protocol.message.AccountRow;
import dev.ashlar.protocol.message.AccountValue;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.CredentialRow;
import dev.ashlar.protocol.message.DeleteAccessKey;
import dev.ashlar.protocol.message.DeleteIdentity;
import dev.ashlar.protocol.message.IdentityListQuery;
import dev.ashlar.protocol.message.IdentityRow;
import dev.ashlar.protocol.message.PutAccessKey;
import dev.ashlar.protocol.message.PutAccount;
import dev.ashlar.protocol.message.PutIdentity;
import dev.ashlar.protocol.message.ResultCode;
import java.util.List;
import java.util.Optional;

/** The identities of one account: reads and changes. */
final class Directory {
  /** How often a change starts again because others changed the same row meanwhile. */
  private static final int ATTEMPTS_MAX = 16;

  private final MetadataClient metadata;
  private final SecretSeals seals;
  private final String account;

  Directory(MetadataClient metadata, SecretSeals seals, String account) {
    this.metadata = metadata;
    this.seals = seals;
    this.account = account;
  }

  /** Changes a row; may be called several times. */
  @FunctionalInterface
  interface Change {
    void apply(IdentityRow.Builder row) throws QueryException;
  }

  Optional<IdentityRow> find(Entity entity, String name) throws MetadataUnavailableException {
    return metadata.identity(account, entity.kind(), name);
  }

  List<IdentityRow> withIds(List<String> ids) throws MetadataUnavailableException {
    return ids.isEmpty() ? List.of() : metadata.identities(account, ids);
  }

  IdentityPage list(IdentityListQuery.Builder query) throws MetadataUnavailableException {
    return metadata.identities(query.setAccount(account).build());
  }

  AccountValue accountValue() throws QueryException, MetadataUnavailableException {
    return metadata
        .account(AccountQuery.newBuilder().setId(account).build())
        .orElseThrow(
            () -> new QueryException(QueryError.NO_SUCH_ENTITY, "The account does not exist."));
  }

  /** Replaces the alias of the account. */
  void setAlias(AccountRow before, String alias)
      throws QueryException, MetadataUnavailableException {
    PutAccount.Builder put =
        PutAccount.newBuilder()
            .setAccount(before.toBuilder().setAlias(alias))
            .setExpectedRevision(before.getRevision());
    submit(
        Command.newBuilder().setPutAccount(put), "The account alias " + alias + " already exists.");
  }

  /** Creates an identity of this account. */
  IdentityRow create(IdentityRow.Builder row) throws QueryException, MetadataUnavailableException {
    row.setAccount(account);
    Entity entity = Entity.of(row.getKind());
    PutIdentity.Builder put = PutIdentity.newBuilder().setIdentity(row);
    submit(
        Command.newBuilder().setPutIdentity(put),
        entity.title() + " with name " + row.getName() + " already exists.");
    // Apply has completed the row.
    return find(entity, row.getName()).orElseThrow(Directory::conflict);
  }

  /**
   * Changes an identity, again from its present state if others change it at the same time.
   *
   * @param row as read before
   */
  IdentityRow change(IdentityRow row, Change change)
      throws QueryException, MetadataUnavailableException {
    IdentityRow present = row;
    for (int attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      IdentityRow.Builder changed = present.toBuilder();
      change.apply(changed);
      PutIdentity.Builder put =
          PutIdentity.newBuilder().setIdentity(changed).setExpectedRevision(present.getRevision());
      CommandResult result = metadata.submit(Command.newBuilder().setPutIdentity(put));
      if (result.getCode() != ResultCode.CONDITIONAL_CONFLICT) {
        check(
            result,
            Entity.of(row.getKind()).title()
                + " with name "
                + changed.getName()
                + " already exists.");
        return changed.build();
      }
      // The caller's right was checked for this name and path.
      present =
          withIds(List.of(row.getId())).stream()
              .filter(now -> now.getName().equals(row.getName()))
              .filter(now -> now.getPath().equals(row.getPath()))
              .findFirst()
              .orElseThrow(Directory::conflict);
    }
    throw conflict();
  }

  void delete(IdentityRow row) throws QueryException, MetadataUnavailableException {
    DeleteIdentity.Builder delete =
        DeleteIdentity.newBuilder().setAccount(account).setId(row.getId());
    submit(Command.newBuilder().setDeleteIdentity(delete), "");
  }

  /**
   * @param userId empty: of the root user
   */
  List<CredentialRow> accessKeys(String userId) throws MetadataUnavailableException {
    return metadata.accessKeys(account, userId);
  }

  /** Creates an access key with this secret. */
  void putNewAccessKey(PutAccessKey.Builder key, String secret)
      throws QueryException, MetadataUnavailableException {
    putAccessKey(seals.put(key, secret));
  }

  void putAccessKey(PutAccessKey.Builder key) throws QueryException, MetadataUnavailableException {
    submit(
        Command.newBuilder().setPutAccessKey(key.setAccount(account)),
        "The access key already exists.");
  }

  void deleteAccessKey(CredentialRow key) throws QueryException, MetadataUnavailableException {
    DeleteAccessKey.Builder delete =
        DeleteAccessKey.newBuilder().setAccount(account).setAccessKey(key.getAccessKey());
    submit(Command.newBuilder().setDeleteAccessKey(delete), "");
  }

  private void submit(Command.Builder command, String existsMessage)
      throws QueryException, MetadataUnavailableException {
    check(metadata.submit(command), existsMessage);
  }

  private static void check(CommandResult result, String existsMessage) throws QueryException {
    switch (result.getCode()) {
      case OK -> {}
      case NO_SUCH_ENTITY ->
          throw new QueryException(
              QueryError.NO_SUCH_ENTITY, "The entity, or one it refers to, does not exist.");
      case ENTITY_ALREADY_EXISTS ->
          throw new QueryException(QueryError.ENTITY_ALREADY_EXISTS, existsMessage);
      case DELETE_CONFLICT ->
          throw new QueryException(
              QueryError.DELETE_CONFLICT,
              "Cannot delete entity: its access keys, policies, policy versions, attachments and"
                  + " group memberships must be removed first.");
      case LIMIT_EXCEEDED ->
          throw new QueryException(
              QueryError.LIMIT_EXCEEDED,
              "Cannot exceed the quota of the account for this number or size.");
      case CONDITIONAL_CONFLICT -> throw conflict();
      case INVALID_COMMAND ->
          throw new QueryException(
              QueryError.VALIDATION_ERROR, "The request has a value that is not valid.");
      default ->
          throw new QueryException(
              QueryError.SERVICE_UNAVAILABLE, "The change was not made. Please try again.");
    }
  }

  private static QueryException conflict() {
    return new QueryException(
        QueryError.CONCURRENT_MODIFICATION,
        "The entity is being changed by other requests. Please try again.");
  }
}
