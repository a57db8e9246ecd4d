package dev.ashlar.metadata.state.identity;

import dev.ashlar.metadata.table.IdentityKeys;
import dev.ashlar.metadata.table.Overlay;
import dev.ashlar.metadata.table.Table;
import dev.ashlar.protocol.message.IdentityDocument;
import dev.ashlar.protocol.message.IdentityKind;
import dev.ashlar.protocol.message.IdentityNameRow;
import dev.ashlar.protocol.message.IdentityRow;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The rows of identities. The row itself is thin, because listings read it: each document is in a
 * row of its own. Indexes find a row by id and by path.
 */
final class IdentityRows {
  private IdentityRows() {}

  /** The thin row. */
  static Optional<IdentityRow> named(Table table, long account, IdentityKind kind, String name) {
    return KindRules.of(kind)
        .map(rules -> IdentityKeys.identity(account, rules.letter(), AsciiText.lowerCase(name)))
        .flatMap(key -> table.row(key, IdentityRow.parser()));
  }

  /** The thin row. */
  static Optional<IdentityRow> withId(Table table, long account, String id) {
    return table
        .row(IdentityKeys.identityId(account, id), IdentityNameRow.parser())
        .flatMap(row -> named(table, account, row.getKind(), row.getName()));
  }

  static boolean exists(Table table, long account, KindRules kind, String id) {
    return kind(table, account, id).filter(present -> present == kind.kind()).isPresent();
  }

  /** Empty if there is no identity with this id. */
  static Optional<IdentityKind> kind(Table table, long account, String id) {
    return table
        .row(IdentityKeys.identityId(account, id), IdentityNameRow.parser())
        .map(IdentityNameRow::getKind);
  }

  // ---- Documents ----

  /** The row with the texts of all documents. */
  static IdentityRow withTexts(Table table, long account, IdentityRow thin) {
    IdentityRow.Builder row = thin.toBuilder().clearDocuments();
    for (IdentityDocument document : thin.getDocumentsList()) {
      document(table, account, thin, document.getName()).ifPresent(row::addDocuments);
    }
    return row.build();
  }

  /** A policy with the text of its default version and without the other versions. */
  static IdentityRow withDefaultVersion(Table table, long account, IdentityRow thin) {
    IdentityRow.Builder row = thin.toBuilder().clearDocuments();
    document(table, account, thin, thin.getDefaultVersion()).ifPresent(row::addDocuments);
    return row.build();
  }

  private static Optional<IdentityDocument> document(
      Table table, long account, IdentityRow row, String name) {
    return table.row(IdentityKeys.document(account, row.getId(), name), IdentityDocument.parser());
  }

  // ---- Changes ----

  /**
   * Writes the row, its documents and its entries in the indexes.
   *
   * @param before the thin row that it replaces, with the same id; null: none
   * @param after with the texts of all documents
   */
  static void put(Overlay table, long account, @Nullable IdentityRow before, IdentityRow after) {
    if (before != null) {
      removeMoved(table, account, before, after);
    }
    Set<String> names = new HashSet<>();
    for (IdentityDocument document : after.getDocumentsList()) {
      names.add(document.getName());
      putIfChanged(
          table,
          IdentityKeys.document(account, after.getId(), document.getName()),
          document.toByteArray());
    }
    if (before != null) {
      removeDocuments(table, account, before, names);
    }
    String name = AsciiText.lowerCase(after.getName());
    char kind = KindRules.known(after.getKind()).letter();
    IdentityNameRow id =
        IdentityNameRow.newBuilder().setKind(after.getKind()).setName(name).build();
    putIfChanged(table, IdentityKeys.identityId(account, after.getId()), id.toByteArray());
    putIfChanged(
        table,
        IdentityKeys.path(account, kind, after.getPath(), name),
        name.getBytes(StandardCharsets.UTF_8));
    putThin(table, account, after);
  }

  /** Removes the entries under a name or path that the identity no longer has. */
  private static void removeMoved(
      Overlay table, long account, IdentityRow before, IdentityRow after) {
    String name = AsciiText.lowerCase(before.getName());
    boolean isRenamed = !name.equals(AsciiText.lowerCase(after.getName()));
    char kind = KindRules.known(before.getKind()).letter();
    if (isRenamed) {
      table.delete(IdentityKeys.identity(account, kind, name));
    }
    if (isRenamed || !before.getPath().equals(after.getPath())) {
      table.delete(IdentityKeys.path(account, kind, before.getPath(), name));
    }
  }

  private static void removeDocuments(
      Overlay table, long account, IdentityRow row, Set<String> except) {
    for (IdentityDocument document : row.getDocumentsList()) {
      if (!except.contains(document.getName())) {
        table.delete(IdentityKeys.document(account, row.getId(), document.getName()));
      }
    }
  }

  private static void putIfChanged(Overlay table, byte[] key, byte[] value) {
    if (!Arrays.equals(value, table.get(key))) {
      table.put(key, value);
    }
  }

  /** Writes the row only. The texts of its documents, if it has any, are left out. */
  static void putThin(Overlay table, long account, IdentityRow row) {
    IdentityRow.Builder thin = row.toBuilder();
    thin.getDocumentsBuilderList().forEach(IdentityDocument.Builder::clearText);
    byte[] key =
        IdentityKeys.identity(
            account, KindRules.known(row.getKind()).letter(), AsciiText.lowerCase(row.getName()));
    table.put(key, thin.build().toByteArray());
  }

  /** Removes everything that {@link #put} has written. */
  static void delete(Overlay table, long account, IdentityRow row) {
    char kind = KindRules.known(row.getKind()).letter();
    String name = AsciiText.lowerCase(row.getName());
    removeDocuments(table, account, row, Set.of());
    table.delete(IdentityKeys.identity(account, kind, name));
    table.delete(IdentityKeys.identityId(account, row.getId()));
    table.delete(IdentityKeys.path(account, kind, row.getPath(), name));
  }
}
