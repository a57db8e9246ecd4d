package dev.ashlar.metadata.state.identity;

import dev.ashlar.metadata.table.IdentityKeys;
import dev.ashlar.metadata.table.Keys;
import dev.ashlar.metadata.table.Table;
import dev.ashlar.protocol.message.IdentityAnswer;
import dev.ashlar.protocol.message.IdentityListQuery;
import dev.ashlar.protocol.message.IdentityRow;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Iterator;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Lists thin rows of identities. Lists have indexes in their order, so a page costs what it
 * contains, wherever it begins. A list below a path is in the order of names, too, and its index in
 * that of paths: each page reads the names below the path, of which {@link KindRules} bounds the
 * number.
 */
final class IdentityListing {
  /** A page ends at the row that reaches it: rows with many tags are large. */
  private static final int PAGE_BYTES_MAX = 256 << 10;

  private final Table table;
  private final long account;
  private final IdentityListQuery query;

  private IdentityListing(Table table, long account, IdentityListQuery query) {
    this.table = table;
    this.account = account;
    this.query = query;
  }

  /** An empty page if the account, kind, group or policy does not exist. */
  static void list(Table table, IdentityListQuery query, IdentityAnswer.Builder answer) {
    if (AccountRows.isId(query.getAccount())) {
      long account = AccountRows.number(query.getAccount());
      new IdentityListing(table, account, query).list(answer);
    }
  }

  private void list(IdentityAnswer.Builder answer) {
    Optional<KindRules> kind = KindRules.of(query.getKind());
    switch (query.getScopeCase()) {
      case MEMBER_OF -> {
        String group = query.getMemberOf();
        walk(
            IdentityKeys.members(account, group),
            id -> IdentityKeys.member(account, group, id),
            answer);
      }
      case ATTACHED_TO -> attached(kind, answer);
      case PATH_PREFIX, SCOPE_NOT_SET -> kind.ifPresent(rules -> ofKind(rules, answer));
    }
  }

  /** Walks an index whose values are ids. */
  private void walk(byte[] all, Function<String, byte[]> keyOfId, IdentityAnswer.Builder answer) {
    byte[] from = query.hasAfter() ? Keys.behind(keyOfId.apply(query.getAfter().getId())) : all;
    walk(all, from, value -> IdentityRows.withId(table, account, utf8(value)), answer);
  }

  private void attached(Optional<KindRules> kind, IdentityAnswer.Builder answer) {
    String policy = query.getAttachedTo();
    byte[] all =
        kind.map(rules -> IdentityKeys.attachments(account, policy, rules.letter()))
            .orElseGet(() -> IdentityKeys.attachments(account, policy));
    byte[] from =
        KindRules.of(query.getAfter().getKind())
            .map(
                rules ->
                    Keys.behind(
                        IdentityKeys.attachment(
                            account, policy, rules.letter(), query.getAfter().getId())))
            .orElse(all);
    walk(all, from, value -> IdentityRows.withId(table, account, utf8(value)), answer);
  }

  private void ofKind(KindRules kind, IdentityAnswer.Builder answer) {
    String prefix = query.getPathPrefix();
    String after = AsciiText.lowerCase(query.getAfter().getName());
    char letter = kind.letter();
    if (prefix.length() <= 1) { // all paths begin with a slash
      byte[] all = IdentityKeys.identities(account, letter);
      byte[] from =
          query.hasAfter() ? Keys.behind(IdentityKeys.identity(account, letter, after)) : all;
      walk(all, from, value -> Optional.of(Table.parse(value, IdentityRow.parser())), answer);
    } else {
      byte[] all = IdentityKeys.paths(account, letter, prefix.getBytes(StandardCharsets.UTF_8));
      Iterator<String> names = names(all, after).iterator();
      take(
          names::hasNext,
          () -> IdentityRows.named(table, account, kind.kind(), names.next()),
          answer);
    }
  }

  /** The names in this part of the index of paths that come after this one, in their order. */
  private SortedSet<String> names(byte[] all, String after) {
    SortedSet<String> names = new TreeSet<>();
    try (Table.Cursor cursor = table.cursor(all, Keys.behind(all))) {
      for (; cursor.isValid(); cursor.next()) {
        String name = utf8(cursor.value());
        if (name.compareTo(after) > 0) {
          names.add(name);
        }
      }
    }
    return names;
  }

  private void walk(
      byte[] all,
      byte[] from,
      Function<byte[], Optional<IdentityRow>> row,
      IdentityAnswer.Builder answer) {
    byte[] first = Arrays.compareUnsigned(from, all) < 0 ? all : from;
    byte[] end = Keys.behind(all);
    if (Arrays.compareUnsigned(first, end) >= 0) {
      return;
    }
    try (Table.Cursor cursor = table.cursor(first, end)) {
      take(
          cursor::isValid,
          () -> {
            Optional<IdentityRow> found = row.apply(cursor.value());
            cursor.next();
            return found;
          },
          answer);
    }
  }

  /** Takes rows until the page is full. */
  private void take(
      BooleanSupplier hasMore,
      Supplier<Optional<IdentityRow>> next,
      IdentityAnswer.Builder answer) {
    int max = IdentityReads.max(query.getMax());
    int bytes = 0;
    while (hasMore.getAsBoolean() && canTakeMore(answer, max, bytes)) {
      Optional<IdentityRow> found = next.get();
      found.ifPresent(answer::addIdentities);
      bytes += found.map(IdentityRow::getSerializedSize).orElse(0);
    }
    answer.setTruncated(hasMore.getAsBoolean());
  }

  private static boolean canTakeMore(IdentityAnswer.Builder answer, int max, int bytes) {
    return answer.getIdentitiesCount() < max && bytes < PAGE_BYTES_MAX;
  }

  private static String utf8(byte[] value) {
    return new String(value, StandardCharsets.UTF_8);
  }
}
