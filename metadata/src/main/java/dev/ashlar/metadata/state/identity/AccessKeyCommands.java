package dev.ashlar.metadata.state.identity;

import static dev.ashlar.metadata.state.apply.ApplyContext.require;

import dev.ashlar.metadata.state.apply.ApplyContext;
import dev.ashlar.metadata.state.apply.MetadataVersion;
import dev.ashlar.metadata.table.IdentityKeys;
import dev.ashlar.metadata.table.Keys;
import dev.ashlar.metadata.table.Overlay;
import dev.ashlar.metadata.table.Table;
import dev.ashlar.protocol.message.AccountRow;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.CredentialRow;
import dev.ashlar.protocol.message.DeleteAccessKey;
import dev.ashlar.protocol.message.PutAccessKey;
import dev.ashlar.protocol.message.PutCredential;
import dev.ashlar.protocol.message.ResultCode;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Creates, changes and deletes access keys. Their ids are unique among all accounts. */
public final class AccessKeyCommands {
  private static final int KEYS_PER_USER_MAX = 2;
  private static final int ID_CHARS_MIN = 3;
  private static final int ID_CHARS_MAX = 128;
  private static final int SECRET_BYTES_MAX = 1024;
  private static final int SEALED_BY_CHARS_MAX = 128;

  private AccessKeyCommands() {}

  public static CommandResult put(ApplyContext context, PutAccessKey command) {
    require(context.version() >= MetadataVersion.IDENTITIES, ResultCode.INVALID_COMMAND);
    require(isValid(command), ResultCode.INVALID_COMMAND);
    Overlay table = context.table();
    AccountRow owner =
        require(AccountRows.withId(table, command.getAccount()), ResultCode.NO_SUCH_ENTITY);
    long account = AccountRows.number(owner.getId());
    String user = command.getUserId();
    require(
        user.isEmpty() || IdentityRows.exists(table, account, KindRules.USER, user),
        ResultCode.NO_SUCH_ENTITY);
    Optional<CredentialRow> present = row(table, command.getAccessKey());
    boolean isNew = command.getExpectedRevision() == 0;
    if (isNew) {
      require(present.isEmpty(), ResultCode.ENTITY_ALREADY_EXISTS);
      require(ofUser(table, account, user).size() < KEYS_PER_USER_MAX, ResultCode.LIMIT_EXCEEDED);
    } else {
      CredentialRow known = require(present, ResultCode.NO_SUCH_ENTITY);
      require(
          known.getAccount().equals(owner.getId()) && known.getUserId().equals(user),
          ResultCode.NO_SUCH_ENTITY);
      require(
          known.getRevision() == command.getExpectedRevision(), ResultCode.CONDITIONAL_CONFLICT);
    }
    CredentialRow row =
        CredentialRow.newBuilder()
            .setAccessKey(command.getAccessKey())
            .setOwner(owner.getCanonicalId())
            .setAccount(owner.getId())
            .setUserId(user)
            .setInactive(command.getInactive())
            .setCreatedAtMs(present.map(CredentialRow::getCreatedAtMs).orElse(context.timeMs()))
            .setSecret(command.getSecret())
            .setSealedBy(command.getSealedBy())
            .setRevision(context.freshId())
            .build();
    table.put(Keys.credential(row.getAccessKey()), row.toByteArray());
    table.put(
        IdentityKeys.accessKey(account, user, row.getAccessKey()),
        row.getAccessKey().getBytes(StandardCharsets.UTF_8));
    AccountRows.touch(table, account, context.freshId());
    return context.written();
  }

  private static boolean isValid(PutAccessKey command) {
    String id = command.getAccessKey();
    int secretBytes = command.getSecret().size();
    return AsciiText.hasLength(id, ID_CHARS_MIN, ID_CHARS_MAX)
        // A signature's scope has slashes, commas and equal signs between its parts.
        && id.chars().allMatch(c -> AsciiText.isVisible(c) && "/,=".indexOf(c) < 0)
        && secretBytes > 0
        && secretBytes <= SECRET_BYTES_MAX
        && command.getSealedBy().length() <= SEALED_BY_CHARS_MAX;
  }

  static Optional<CredentialRow> row(Table table, String accessKey) {
    return table.row(Keys.credential(accessKey), CredentialRow.parser());
  }

  /** The access keys of a user, or with an empty id of the root user. */
  static List<CredentialRow> ofUser(Table table, long account, String userId) {
    try (Table.Cursor cursor = table.cursor(IdentityKeys.accessKeys(account, userId))) {
      List<CredentialRow> rows = new ArrayList<>();
      for (; cursor.isValid(); cursor.next()) {
        row(table, new String(cursor.value(), StandardCharsets.UTF_8)).ifPresent(rows::add);
      }
      return rows;
    }
  }

  public static CommandResult delete(ApplyContext context, DeleteAccessKey command) {
    require(context.version() >= MetadataVersion.IDENTITIES, ResultCode.INVALID_COMMAND);
    Overlay table = context.table();
    AccountRow owner =
        require(AccountRows.withId(table, command.getAccount()), ResultCode.NO_SUCH_ENTITY);
    CredentialRow row = require(row(table, command.getAccessKey()), ResultCode.NO_SUCH_ENTITY);
    require(belongs(row, owner), ResultCode.NO_SUCH_ENTITY);
    long expected = command.getExpectedRevision();
    require(expected == 0 || expected == row.getRevision(), ResultCode.CONDITIONAL_CONFLICT);
    long account = AccountRows.number(owner.getId());
    delete(table, account, row);
    AccountRows.touch(table, account, context.freshId());
    return context.written();
  }

  /** Whether it is a key of the account; keys of PutCredential name its canonical id only. */
  private static boolean belongs(CredentialRow row, AccountRow account) {
    return row.getAccount().isEmpty()
        ? row.getOwner().equals(account.getCanonicalId())
        : row.getAccount().equals(account.getId());
  }

  private static void delete(Overlay table, long account, CredentialRow row) {
    table.delete(Keys.credential(row.getAccessKey()));
    if (!row.getAccount().isEmpty()) {
      table.delete(IdentityKeys.accessKey(account, row.getUserId(), row.getAccessKey()));
    }
  }

  static void deleteAllOfRoot(Overlay table, long account) {
    ofUser(table, account, "").forEach(row -> delete(table, account, row));
  }

  /**
   * Creates or replaces a credential that names its owner only: it is one of the root user. It is
   * from before there were access keys, and must not replace one.
   */
  public static CommandResult putCredential(ApplyContext context, PutCredential command) {
    CredentialRow credential = command.getCredential();
    Overlay table = context.table();
    if (context.version() >= MetadataVersion.IDENTITIES) {
      require(credential.equals(onlyOwned(credential)), ResultCode.INVALID_COMMAND);
      Optional<CredentialRow> present = row(table, credential.getAccessKey());
      require(
          present.map(CredentialRow::getAccount).orElse("").isEmpty(),
          ResultCode.ENTITY_ALREADY_EXISTS);
      AccountCommands.requireNotRemoved(context, credential.getOwner());
      present.ifPresent(row -> touchOwner(context, row.getOwner()));
      touchOwner(context, credential.getOwner());
    }
    table.put(Keys.credential(credential.getAccessKey()), credential.toByteArray());
    return ApplyContext.OK;
  }

  private static void touchOwner(ApplyContext context, String canonicalId) {
    AccountRows.withCanonicalId(context.table(), canonicalId)
        .map(account -> AccountRows.number(account.getId()))
        .ifPresent(account -> AccountRows.touch(context.table(), account, context.freshId()));
  }

  private static CredentialRow onlyOwned(CredentialRow credential) {
    return CredentialRow.newBuilder()
        .setAccessKey(credential.getAccessKey())
        .setSecretKey(credential.getSecretKey())
        .setOwner(credential.getOwner())
        .build();
  }
}
