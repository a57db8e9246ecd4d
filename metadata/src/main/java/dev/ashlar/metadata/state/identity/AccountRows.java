package dev.ashlar.metadata.state.identity;

import dev.ashlar.metadata.table.IdentityKeys;
import dev.ashlar.metadata.table.Overlay;
import dev.ashlar.metadata.table.Table;
import dev.ashlar.protocol.message.AccountNameRow;
import dev.ashlar.protocol.message.AccountRow;
import dev.ashlar.protocol.message.AccountStateRow;
import java.util.Optional;

/** The rows of accounts, and the indexes by which they are found. */
final class AccountRows {
  private static final int ID_DIGITS = 12;

  private AccountRows() {}

  static boolean isId(String text) {
    return text.length() == ID_DIGITS && text.chars().allMatch(AsciiText::isDigit);
  }

  /** The number of an id in keys. */
  static long number(String id) {
    return Long.parseLong(id);
  }

  static Optional<AccountRow> withId(Table table, String id) {
    return isId(id)
        ? table.row(IdentityKeys.account(number(id)), AccountRow.parser())
        : Optional.empty();
  }

  /** Of an account that has a state. */
  static AccountRow numbered(Table table, long account) {
    return table.row(IdentityKeys.account(account), AccountRow.parser()).orElseThrow();
  }

  static Optional<AccountRow> withCanonicalId(Table table, String canonicalId) {
    return named(table, IdentityKeys.canonicalId(canonicalId));
  }

  static Optional<AccountRow> withEmail(Table table, String email) {
    return named(table, IdentityKeys.email(AsciiText.lowerCase(email)));
  }

  static Optional<AccountRow> withAlias(Table table, String alias) {
    return named(table, IdentityKeys.alias(alias));
  }

  private static Optional<AccountRow> named(Table table, byte[] key) {
    return table
        .row(key, AccountNameRow.parser())
        .filter(name -> !name.getRemoved())
        .flatMap(name -> withId(table, name.getAccount()));
  }

  /** The account with this canonical id, which may have been removed. */
  static Optional<AccountNameRow> owner(Table table, String canonicalId) {
    return table.row(IdentityKeys.canonicalId(canonicalId), AccountNameRow.parser());
  }

  /** Whether an account with this canonical id was deleted and not created again. */
  static boolean isRemoved(Table table, String canonicalId) {
    return owner(table, canonicalId).map(AccountNameRow::getRemoved).orElse(false);
  }

  /** The default value for an account that does not exist. */
  static AccountStateRow state(Table table, long account) {
    return table
        .row(IdentityKeys.accountState(account), AccountStateRow.parser())
        .orElse(AccountStateRow.getDefaultInstance());
  }

  static void putState(Overlay table, long account, AccountStateRow.Builder state) {
    table.put(IdentityKeys.accountState(account), state.build().toByteArray());
  }

  /** Records that something of the account has changed at this log position. */
  static void touch(Overlay table, long account, long position) {
    putState(table, account, state(table, account).toBuilder().setRevision(position));
  }
}
