package dev.ashlar.metadata.state.identity;

import dev.ashlar.metadata.table.IdentityKeys;
import dev.ashlar.metadata.table.Table;
import dev.ashlar.protocol.message.AccountQuery;
import dev.ashlar.protocol.message.AccountRow;
import dev.ashlar.protocol.message.AccountValue;
import dev.ashlar.protocol.message.AccountsQuery;
import dev.ashlar.protocol.message.IdentityAnswer;
import dev.ashlar.protocol.message.IdentityLookup;
import dev.ashlar.protocol.message.IdentityQuery;
import java.util.Optional;

/** Reads of accounts, identities and access keys from one snapshot. */
public final class IdentityReads {
  private static final int PAGE_ROWS_MAX = 1000;

  private IdentityReads() {}

  public static IdentityAnswer answer(Table table, IdentityQuery query) {
    IdentityAnswer.Builder answer = IdentityAnswer.newBuilder();
    switch (query.getKindCase()) {
      case PRINCIPAL -> answer.setPrincipal(Principals.answer(table, query.getPrincipal()));
      case ACCOUNT ->
          account(table, query.getAccount())
              .ifPresent(account -> answer.addAccounts(value(table, account)));
      case ACCOUNTS -> accounts(table, query.getAccounts(), answer);
      case IDENTITY -> identities(table, query.getIdentity(), answer);
      case IDENTITIES -> IdentityListing.list(table, query.getIdentities(), answer);
      case ACCESS_KEYS ->
          AccountRows.withId(table, query.getAccessKeys().getAccount())
              .map(account -> AccountRows.number(account.getId()))
              .ifPresent(
                  account ->
                      answer.addAllAccessKeys(
                          AccessKeyCommands.ofUser(
                              table, account, query.getAccessKeys().getUserId())));
      case KIND_NOT_SET -> throw new IllegalArgumentException("an identity query of no kind");
    }
    return answer.build();
  }

  private static Optional<AccountRow> account(Table table, AccountQuery query) {
    return switch (query.getByCase()) {
      case ID -> AccountRows.withId(table, query.getId());
      case CANONICAL_ID -> AccountRows.withCanonicalId(table, query.getCanonicalId());
      case EMAIL -> AccountRows.withEmail(table, query.getEmail());
      case ALIAS -> AccountRows.withAlias(table, query.getAlias());
      case BY_NOT_SET -> Optional.empty();
    };
  }

  private static AccountValue value(Table table, AccountRow account) {
    return AccountValue.newBuilder()
        .setAccount(account)
        .setState(AccountRows.state(table, AccountRows.number(account.getId())))
        .build();
  }

  /** Skips the other rows of each account with one seek. */
  private static void accounts(Table table, AccountsQuery query, IdentityAnswer.Builder answer) {
    String after = query.getAfter();
    long first = AccountRows.isId(after) ? AccountRows.number(after) + 1 : 0;
    int max = max(query.getMax());
    try (Table.Cursor cursor =
        table.cursor(IdentityKeys.accountsFrom(first), IdentityKeys.accountsEnd())) {
      while (cursor.isValid() && answer.getAccountsCount() < max) {
        AccountRow account = Table.parse(cursor.value(), AccountRow.parser());
        answer.addAccounts(value(table, account));
        cursor.seek(IdentityKeys.accountsFrom(AccountRows.number(account.getId()) + 1));
      }
      answer.setTruncated(cursor.isValid());
    }
  }

  /** The rows to return at most, if so many were asked for; the number is unsigned. */
  static int max(int asked) {
    return asked < 0 ? PAGE_ROWS_MAX : Math.min(asked, PAGE_ROWS_MAX);
  }

  private static void identities(Table table, IdentityLookup query, IdentityAnswer.Builder answer) {
    if (!AccountRows.isId(query.getAccount())) {
      return;
    }
    long account = AccountRows.number(query.getAccount());
    if (!query.getName().isEmpty()) {
      IdentityRows.named(table, account, query.getKind(), query.getName())
          .map(row -> IdentityRows.withTexts(table, account, row))
          .ifPresent(answer::addIdentities);
    }
    query.getIdsList().stream()
        .limit(PAGE_ROWS_MAX)
        .flatMap(id -> IdentityRows.withId(table, account, id).stream())
        .map(row -> IdentityRows.withTexts(table, account, row))
        .forEach(answer::addIdentities);
  }
}
