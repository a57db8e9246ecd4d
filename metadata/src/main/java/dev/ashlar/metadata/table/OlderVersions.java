package dev.ashlar.metadata.table;

import dev.ashlar.protocol.message.ObjectRow;
import dev.ashlar.protocol.message.VersionRef;
import java.util.Optional;

/**
 * The thin rows of the versions of a key that are not its present one: versions that were replaced
 * or deleted without an id, and all delete markers. A key whose newest version is a delete marker
 * has no present version. At most one version of a key is its null version.
 */
public final class OlderVersions {
  private OlderVersions() {}

  public static Optional<ObjectRow> find(Table table, long bucketId, String key, long version) {
    return table.row(Keys.olderVersion(bucketId, key, version), ObjectRow.parser());
  }

  public static Optional<ObjectRow> newest(Table table, long bucketId, String key) {
    try (Table.Cursor cursor = table.cursor(Keys.olderVersions(bucketId, key))) {
      return cursor.isValid()
          ? Optional.of(Table.parse(cursor.value(), ObjectRow.parser()))
          : Optional.empty();
    }
  }

  public static Optional<ObjectRow> nullVersion(Table table, long bucketId, String key) {
    return table
        .row(Keys.nullVersion(bucketId, key), VersionRef.parser())
        .flatMap(ref -> find(table, bucketId, key, ref.getNumber()));
  }

  /** Writes a version that is new here, or replaces the row of one that is there. */
  public static void put(Overlay table, long bucketId, String key, ObjectRow row) {
    table.put(Keys.olderVersion(bucketId, key, row.getVersion()), row.toByteArray());
    if (!row.getVersioned()) {
      VersionRef ref = VersionRef.newBuilder().setNumber(row.getVersion()).build();
      table.put(Keys.nullVersion(bucketId, key), ref.toByteArray());
    }
  }

  public static void remove(Overlay table, long bucketId, String key, ObjectRow row) {
    table.delete(Keys.olderVersion(bucketId, key, row.getVersion()));
    if (!row.getVersioned()) {
      table.delete(Keys.nullVersion(bucketId, key));
    }
  }
}
