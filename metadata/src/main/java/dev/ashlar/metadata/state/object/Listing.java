package dev.ashlar.metadata.state.object;

import dev.ashlar.metadata.table.Keys;
import dev.ashlar.metadata.table.Table;
import dev.ashlar.protocol.client.ListPage;
import dev.ashlar.protocol.client.ListQuery;
import dev.ashlar.protocol.client.UploadsPage;
import dev.ashlar.protocol.message.ObjectRow;
import dev.ashlar.protocol.message.UploadListQuery;
import dev.ashlar.protocol.message.UploadRow;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/**
 * Lists the keys of a bucket in order and rolls up keys with a common prefix. Rolled-up keys are
 * skipped with one seek, so a page costs as much as it contains.
 */
public final class Listing {
  private final char table;
  private final long bucketId;
  private final KeyGroups groups;

  private Listing(char table, long bucketId, String prefix, String delimiter) {
    this.table = table;
    this.bucketId = bucketId;
    this.groups = new KeyGroups(prefix, delimiter);
  }

  public static ListPage objects(Table snapshot, long bucketId, ListQuery query) {
    List<ListPage.Entry> entries = new ArrayList<>();
    Listing listing = new Listing('O', bucketId, query.prefix(), query.delimiter());
    byte[] from = listing.from(query.after(), Keys.object(bucketId, query.after()));
    boolean truncated =
        listing.walk(
            snapshot,
            from,
            query.max(),
            (text, value) -> {
              String key = new String(text, StandardCharsets.UTF_8);
              ObjectRow row = Table.parse(value, ObjectRow.parser());
              entries.add(new ListPage.Key(key, row.getSummary()));
            },
            common -> entries.add(new ListPage.CommonPrefix(common)));
    return new ListPage(entries, truncated);
  }

  public static UploadsPage uploads(Table snapshot, long bucketId, UploadListQuery query) {
    List<UploadRow> uploads = new ArrayList<>();
    List<String> commonPrefixes = new ArrayList<>();
    Listing listing = new Listing('U', bucketId, query.getPrefix(), query.getDelimiter());
    String key = query.getKeyMarker();
    byte[] marker =
        query.getUploadIdMarker().isEmpty()
            ? Keys.uploadsOf(bucketId, key)
            : Keys.upload(bucketId, key, query.getUploadIdMarker());
    boolean truncated =
        listing.walk(
            snapshot,
            listing.from(key, marker),
            query.getMax(),
            (text, value) -> uploads.add(Table.parse(value, UploadRow.parser())),
            commonPrefixes::add);
    return new UploadsPage(uploads, commonPrefixes, truncated);
  }

  /** The first key to list after this marker. */
  private byte[] from(String marker, byte[] markerKey) {
    byte[] text = KeyGroups.utf8(marker);
    byte[] first = Keys.inBucket(table, bucketId, groups.prefix());
    if (text.length == 0) {
      return first;
    }
    byte[] behind =
        Keys.behind(groups.isCommonPrefix(text) ? Keys.inBucket(table, bucketId, text) : markerKey);
    return Arrays.compareUnsigned(first, behind) > 0 ? first : behind;
  }

  /**
   * Visits rows and common prefixes in order.
   *
   * @param row receives the text and the value of a row
   * @return whether more follow
   */
  private boolean walk(
      Table snapshot,
      byte[] from,
      int max,
      BiConsumer<byte[], byte[]> row,
      Consumer<String> commonPrefix) {
    byte[] end = Keys.behind(Keys.inBucket(table, bucketId, groups.prefix()));
    if (max <= 0 || Arrays.compareUnsigned(from, end) >= 0) {
      return false;
    }
    int visited = 0;
    try (Table.Cursor cursor = snapshot.cursor(from, end)) {
      for (; cursor.isValid() && visited < max; visited++) {
        byte[] text = Keys.textOf(cursor.key());
        int rolledUp = groups.commonPrefixLength(text);
        if (rolledUp < 0) {
          row.accept(text, cursor.value());
          cursor.next();
        } else {
          byte[] common = Arrays.copyOf(text, rolledUp);
          commonPrefix.accept(new String(common, StandardCharsets.UTF_8));
          cursor.seek(Keys.behind(Keys.inBucket(table, bucketId, common)));
        }
      }
      return cursor.isValid();
    }
  }
}
