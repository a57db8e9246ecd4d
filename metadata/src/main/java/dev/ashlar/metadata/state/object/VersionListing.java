package dev.ashlar.metadata.state.object;

import dev.ashlar.metadata.table.Keys;
import dev.ashlar.metadata.table.ObjectTable;
import dev.ashlar.metadata.table.OlderVersions;
import dev.ashlar.metadata.table.Table;
import dev.ashlar.protocol.message.BucketRow;
import dev.ashlar.protocol.message.ObjectRow;
import dev.ashlar.protocol.message.VersionEntry;
import dev.ashlar.protocol.message.VersionListQuery;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Lists the versions and delete markers of a bucket: keys in order, the versions of a key from the
 * newest on. Merges the table of present versions with that of the others, so a page costs as much
 * as it contains.
 */
public final class VersionListing {
  private final Table snapshot;
  private final BucketRow bucket;
  private final KeyGroups groups;
  private final List<VersionEntry> entries = new ArrayList<>();

  /** The last key of which a version was listed, or passed over as newer than the marker. */
  private byte @Nullable [] seen;

  /**
   * A page.
   *
   * @param truncated whether more follow
   */
  public record Page(List<VersionEntry> entries, boolean truncated) {}

  /** Where a page begins, in each of both tables. */
  private record Start(byte[] present, byte[] older) {}

  private VersionListing(Table snapshot, BucketRow bucket, VersionListQuery query) {
    this.snapshot = snapshot;
    this.bucket = bucket;
    this.groups = new KeyGroups(query.getPrefix(), query.getDelimiter());
  }

  public static Page page(Table snapshot, BucketRow bucket, VersionListQuery query) {
    return new VersionListing(snapshot, bucket, query).page(query);
  }

  private Page page(VersionListQuery query) {
    Start start = start(query);
    byte[] presentEnd = Keys.behind(inTable('O', groups.prefix()));
    byte[] olderEnd = Keys.behind(inTable('H', groups.prefix()));
    if (query.getMax() <= 0) {
      return new Page(entries, false);
    }
    try (Table.Cursor present = cursor(start.present(), presentEnd);
        Table.Cursor older = cursor(start.older(), olderEnd)) {
      while (entries.size() < query.getMax() && (present.isValid() || older.isValid())) {
        list(present, older);
      }
      return new Page(entries, present.isValid() || older.isValid());
    }
  }

  private Table.Cursor cursor(byte[] from, byte[] end) {
    return snapshot.cursor(Arrays.compareUnsigned(from, end) < 0 ? from : end, end);
  }

  private byte[] inTable(char table, byte[] text) {
    return Keys.inBucket(table, bucket.getId(), text);
  }

  /** Lists the next version or common prefix, and moves on. */
  private void list(Table.Cursor present, Table.Cursor older) {
    byte[] presentText = present.isValid() ? Keys.textOf(present.key()) : null;
    byte[] olderText = older.isValid() ? Keys.textOf(older.key()) : null;
    boolean isPresent =
        presentText != null
            && (olderText == null || Arrays.compareUnsigned(presentText, olderText) <= 0);
    byte[] text = isPresent ? presentText : olderText;
    if (text == null) {
      throw new IllegalStateException("nothing is left to list");
    }
    int rolledUp = groups.commonPrefixLength(text);
    if (rolledUp >= 0) {
      byte[] common = Arrays.copyOf(text, rolledUp);
      entries.add(VersionEntry.newBuilder().setName(string(common)).build());
      present.seek(Keys.behind(inTable('O', common)));
      older.seek(Keys.behind(inTable('H', common)));
      return;
    }
    Table.Cursor cursor = isPresent ? present : older;
    ObjectRow row = Table.parse(cursor.value(), ObjectRow.parser());
    entries.add(
        VersionEntry.newBuilder()
            .setName(string(text))
            .setVersion(row.getVersion())
            .setVersioned(row.getVersioned())
            .setLatest(!Arrays.equals(text, seen))
            .setDeleteMarker(row.getDeleteMarker())
            .setSummary(row.getSummary())
            .build());
    seen = text;
    cursor.next();
  }

  private Start start(VersionListQuery query) {
    String key = query.getKeyMarker();
    byte[] text = KeyGroups.utf8(key);
    if (text.length == 0) {
      return clipped(inTable('O', text), inTable('H', text));
    }
    if (groups.isCommonPrefix(text)) {
      return clipped(Keys.behind(inTable('O', text)), Keys.behind(inTable('H', text)));
    }
    long id = bucket.getId();
    Optional<Long> marker = query.hasVersionMarker() ? number(query) : Optional.empty();
    if (marker.isEmpty()) {
      return clipped(Keys.behind(Keys.object(id, key)), Keys.behind(Keys.olderVersions(id, key)));
    }
    long version = marker.get();
    Optional<ObjectRow> present = ObjectTable.row(snapshot, id, key);
    boolean isPresentOlder =
        present.isPresent() && Long.compareUnsigned(present.get().getVersion(), version) < 0;
    Optional<ObjectRow> newest =
        present.isPresent() ? present : OlderVersions.newest(snapshot, id, key);
    if (newest.isPresent() && Long.compareUnsigned(newest.get().getVersion(), version) >= 0) {
      seen = text;
    }
    byte[] presentKey = Keys.object(id, key);
    return clipped(
        isPresentOlder ? presentKey : Keys.behind(presentKey),
        Keys.behind(Keys.olderVersion(id, key, version)));
  }

  /** The position in the log of the version marker; empty if it is a null version that is gone. */
  private Optional<Long> number(VersionListQuery query) {
    long number = query.getVersionMarker().getNumber();
    return number != 0
        ? Optional.of(number)
        : Versions.row(snapshot, bucket, query.getKeyMarker(), query.getVersionMarker())
            .map(ObjectRow::getVersion);
  }

  /** Not before the first key with the prefix. */
  private Start clipped(byte[] present, byte[] older) {
    return new Start(
        later(inTable('O', groups.prefix()), present), later(inTable('H', groups.prefix()), older));
  }

  private static byte[] later(byte[] a, byte[] b) {
    return Arrays.compareUnsigned(a, b) > 0 ? a : b;
  }

  private static String string(byte[] text) {
    return new String(text, StandardCharsets.UTF_8);
  }
}
