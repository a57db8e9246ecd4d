package dev.ashlar.metadata.table;

import dev.ashlar.protocol.message.ObjectAttributes;
import dev.ashlar.protocol.message.ObjectChunkRow;
import dev.ashlar.protocol.message.ObjectDetailRow;
import dev.ashlar.protocol.message.ObjectRecord;
import dev.ashlar.protocol.message.ObjectRow;
import java.util.List;
import java.util.Optional;

/** How an object version is spread over its rows: thin, detail and chunks. */
public final class ObjectTable {
  /** Larger attributes leave the thin row, which every listing reads. */
  static final int INLINE_ATTRIBUTES_MAX_BYTES = 256;

  static final int CHUNK_ITEMS = 1000;

  private ObjectTable() {}

  public static Optional<ObjectRow> row(Table table, long bucketId, String key) {
    return Rows.get(table, Keys.object(bucketId, key), ObjectRow.parser());
  }

  public static Optional<ObjectRecord> read(Table table, long bucketId, String key) {
    return row(table, bucketId, key).map(row -> assemble(table, bucketId, key, row));
  }

  /** The whole version that this thin row describes. */
  public static ObjectRecord assemble(Table table, long bucketId, String key, ObjectRow row) {
    ObjectRecord.Builder object =
        ObjectRecord.newBuilder().setSummary(row.getSummary()).setVersion(row.getVersion());
    if (row.getHasDetail()) {
      object.setAttributes(
          need(Rows.get(table, Keys.objectDetail(bucketId, key), ObjectDetailRow.parser()))
              .getAttributes());
    } else {
      object.setAttributes(row.getAttributes());
    }
    if (row.hasSlice()) {
      object.addSlices(row.getSlice());
    }
    for (int i = 0; i < row.getChunks(); i++) {
      byte[] chunkKey = Keys.objectChunk(bucketId, key, row.getVersion(), i);
      ObjectChunkRow chunk = need(Rows.get(table, chunkKey, ObjectChunkRow.parser()));
      object.addAllSlices(chunk.getSlicesList()).addAllParts(chunk.getPartsList());
      if (i == 0) {
        object.setUploadId(chunk.getUploadId());
      }
    }
    return object.build();
  }

  private static <T> T need(Optional<T> row) {
    return row.orElseThrow(() -> new IllegalStateException("a row of an object is missing"));
  }

  /** Writes a version where there is none. */
  public static void insert(Overlay table, long bucketId, String key, ObjectRecord object) {
    ObjectRow.Builder row =
        ObjectRow.newBuilder().setSummary(object.getSummary()).setVersion(object.getVersion());
    ObjectAttributes attributes = object.getAttributes();
    if (attributes.getSerializedSize() <= INLINE_ATTRIBUTES_MAX_BYTES) {
      row.setAttributes(attributes);
    } else {
      row.setHasDetail(true);
      ObjectDetailRow detail = ObjectDetailRow.newBuilder().setAttributes(attributes).build();
      table.put(Keys.objectDetail(bucketId, key), detail.toByteArray());
    }
    if (object.getSlicesCount() == 1 && object.getPartsCount() == 0) {
      row.setSlice(object.getSlices(0));
    } else {
      row.setChunks(insertChunks(table, bucketId, key, object));
    }
    table.put(Keys.object(bucketId, key), row.build().toByteArray());
  }

  private static int insertChunks(Overlay table, long bucketId, String key, ObjectRecord object) {
    int items = Math.max(object.getSlicesCount(), object.getPartsCount());
    int chunks = Math.ceilDiv(items, CHUNK_ITEMS);
    for (int i = 0; i < chunks; i++) {
      ObjectChunkRow chunk =
          ObjectChunkRow.newBuilder()
              .addAllSlices(chunkOf(object.getSlicesList(), i))
              .addAllParts(chunkOf(object.getPartsList(), i))
              .setUploadId(i == 0 ? object.getUploadId() : "")
              .build();
      table.put(Keys.objectChunk(bucketId, key, object.getVersion(), i), chunk.toByteArray());
    }
    return chunks;
  }

  private static <T> List<T> chunkOf(List<T> items, int chunk) {
    int from = Math.min(items.size(), chunk * CHUNK_ITEMS);
    return items.subList(from, Math.min(items.size(), from + CHUNK_ITEMS));
  }

  /** Removes all rows of the version that this thin row describes. */
  public static void remove(Overlay table, long bucketId, String key, ObjectRow row) {
    if (row.getHasDetail()) {
      table.delete(Keys.objectDetail(bucketId, key));
    }
    for (int i = 0; i < row.getChunks(); i++) {
      table.delete(Keys.objectChunk(bucketId, key, row.getVersion(), i));
    }
    table.delete(Keys.object(bucketId, key));
  }
}
