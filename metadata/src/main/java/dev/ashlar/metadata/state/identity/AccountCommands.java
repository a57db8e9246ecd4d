package dev.ashlar.metadata.state.identity;

import static dev.ashlar.metadata.state.apply.ApplyContext.require;

import dev.ashlar.metadata.state.apply.ApplyContext;
import dev.ashlar.metadata.state.apply.MetadataVersion;
import dev.ashlar.metadata.table.IdentityKeys;
import dev.ashlar.metadata.table.Overlay;
import dev.ashlar.metadata.table.Table;
import dev.ashlar.protocol.message.AccountNameRow;
import dev.ashlar.protocol.message.AccountRow;
import dev.ashlar.protocol.message.AccountStateRow;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.DeleteAccount;
import dev.ashlar.protocol.message.PutAccount;
import dev.ashlar.protocol.message.ResultCode;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Creates, changes and deletes accounts. An account owns the buckets whose owner is its canonical
 * id, also those from before there were accounts.
 */
public final class AccountCommands {
  private static final int CANONICAL_ID_DIGITS = 64;

  /** Of the owner of a store from before there were accounts: it is the cluster's id. */
  private static final int FIRST_OWNER_DIGITS = 32;

  private static final int SESSION_KEY_BYTES = 32;
  private static final int NAME_CHARS_MAX = 128;
  private static final int EMAIL_CHARS_MAX = 254;
  private static final int ALIAS_CHARS_MIN = 3;
  private static final int ALIAS_CHARS_MAX = 63;

  private AccountCommands() {}

  public static CommandResult put(ApplyContext context, PutAccount command) {
    require(context.version() >= MetadataVersion.IDENTITIES, ResultCode.INVALID_COMMAND);
    AccountRow wanted = command.getAccount();
    require(isValid(wanted), ResultCode.INVALID_COMMAND);
    Overlay table = context.table();
    boolean isNew = command.getExpectedRevision() == 0;
    AccountRow before =
        isNew
            ? checkedNew(table, wanted)
            : checkedPresent(table, wanted, command.getExpectedRevision());
    checkNamesFree(table, wanted);
    AccountRow row =
        wanted.toBuilder()
            .setCreatedAtMs(isNew ? context.timeMs() : before.getCreatedAtMs())
            .setRevision(context.freshId())
            .setSessionKey(
                wanted.getSessionKey().isEmpty() ? before.getSessionKey() : wanted.getSessionKey())
            .build();
    removeNames(table, before);
    putNames(table, row);
    context.catalog().setRemoved(row.getCanonicalId(), false);
    long account = AccountRows.number(row.getId());
    table.put(IdentityKeys.account(account), row.toByteArray());
    AccountRows.touch(table, account, context.freshId());
    return context.written();
  }

  private static boolean isValid(AccountRow row) {
    String canonical = row.getCanonicalId();
    String email = row.getEmail();
    String alias = row.getAlias();
    return AccountRows.isId(row.getId())
        && (canonical.length() == CANONICAL_ID_DIGITS || canonical.length() == FIRST_OWNER_DIGITS)
        && canonical.chars().allMatch(c -> AsciiText.isDigit(c) || (c >= 'a' && c <= 'f'))
        && AsciiText.hasLength(row.getName(), 1, NAME_CHARS_MAX)
        && AsciiText.isPrintable(row.getName())
        && (row.getSessionKey().isEmpty() || row.getSessionKey().size() == SESSION_KEY_BYTES)
        && (email.isEmpty() || isEmail(email))
        && (alias.isEmpty() || isAlias(alias));
  }

  private static boolean isEmail(String text) {
    return text.length() <= EMAIL_CHARS_MAX
        && text.indexOf('@') > 0
        && text.indexOf('@') < text.length() - 1
        && text.chars().allMatch(AsciiText::isVisible);
  }

  private static boolean isAlias(String text) {
    return AsciiText.hasLength(text, ALIAS_CHARS_MIN, ALIAS_CHARS_MAX)
        && text.chars().allMatch(c -> AsciiText.isDigit(c) || (c >= 'a' && c <= 'z') || c == '-');
  }

  private static AccountRow checkedNew(Table table, AccountRow wanted) {
    require(AccountRows.withId(table, wanted.getId()).isEmpty(), ResultCode.ENTITY_ALREADY_EXISTS);
    return AccountRow.getDefaultInstance();
  }

  private static AccountRow checkedPresent(Table table, AccountRow wanted, long revision) {
    AccountRow present =
        require(AccountRows.withId(table, wanted.getId()), ResultCode.NO_SUCH_ENTITY);
    require(present.getRevision() == revision, ResultCode.CONDITIONAL_CONFLICT);
    require(present.getCanonicalId().equals(wanted.getCanonicalId()), ResultCode.INVALID_COMMAND);
    return present;
  }

  /** Refuses names that another account has. */
  private static void checkNamesFree(Table table, AccountRow wanted) {
    boolean isTaken =
        Stream.of(
                AccountRows.withCanonicalId(table, wanted.getCanonicalId()),
                AccountRows.withEmail(table, wanted.getEmail()),
                AccountRows.withAlias(table, wanted.getAlias()))
            .flatMap(Optional::stream)
            .anyMatch(other -> !other.getId().equals(wanted.getId()));
    require(!isTaken, ResultCode.ENTITY_ALREADY_EXISTS);
  }

  private static void removeNames(Overlay table, AccountRow row) {
    if (!row.getEmail().isEmpty()) {
      table.delete(IdentityKeys.email(AsciiText.lowerCase(row.getEmail())));
    }
    if (!row.getAlias().isEmpty()) {
      table.delete(IdentityKeys.alias(row.getAlias()));
    }
  }

  private static void putNames(Overlay table, AccountRow row) {
    byte[] value = AccountNameRow.newBuilder().setAccount(row.getId()).build().toByteArray();
    table.put(IdentityKeys.canonicalId(row.getCanonicalId()), value);
    if (!row.getEmail().isEmpty()) {
      table.put(IdentityKeys.email(AsciiText.lowerCase(row.getEmail())), value);
    }
    if (!row.getAlias().isEmpty()) {
      table.put(IdentityKeys.alias(row.getAlias()), value);
    }
  }

  /**
   * Deletes an account that has neither identities nor buckets. Its canonical id stays known as
   * removed: a request that was under way must not create a bucket for it, and a credential from
   * before there were accounts must not work any more.
   */
  public static CommandResult delete(ApplyContext context, DeleteAccount command) {
    require(context.version() >= MetadataVersion.IDENTITIES, ResultCode.INVALID_COMMAND);
    Overlay table = context.table();
    AccountRow row =
        require(AccountRows.withId(table, command.getAccount()), ResultCode.NO_SUCH_ENTITY);
    long expected = command.getExpectedRevision();
    require(expected == 0 || expected == row.getRevision(), ResultCode.CONDITIONAL_CONFLICT);
    long account = AccountRows.number(row.getId());
    AccountStateRow state = AccountRows.state(table, account);
    for (KindRules kind : KindRules.values()) {
      require(kind.count(state) == 0, ResultCode.DELETE_CONFLICT);
    }
    String owner = row.getCanonicalId();
    require(
        context.catalog().buckets().values().stream()
            .noneMatch(bucket -> bucket.getOwner().equals(owner)),
        ResultCode.DELETE_CONFLICT);
    AccessKeyCommands.deleteAllOfRoot(table, account);
    removeNames(table, row);
    table.put(
        IdentityKeys.canonicalId(owner),
        AccountNameRow.newBuilder().setAccount(row.getId()).setRemoved(true).build().toByteArray());
    context.catalog().setRemoved(owner, true);
    table.delete(IdentityKeys.account(account));
    table.delete(IdentityKeys.accountState(account));
    return ApplyContext.OK;
  }

  /** Refuses what a deleted account would own from now on. */
  public static void requireNotRemoved(ApplyContext context, String canonicalId) {
    if (context.version() >= MetadataVersion.IDENTITIES) {
      require(!context.catalog().isRemoved(canonicalId), ResultCode.NO_SUCH_ENTITY);
    }
  }
}
