package dev.ashlar.metadata.table;

import dev.ashlar.protocol.message.ObjectAttributes;
import dev.ashlar.protocol.message.ObjectChunkRow;
import dev.ashlar.protocol.message.ObjectDetailRow;
import dev.ashlar.protocol.message.ObjectRecord;
import dev.ashlar.protocol.message.ObjectRow;
import java.util.List;
import java.util.Optional;

/** Reads and writes the rows of an object version: thin row, details and chunks. */
public final class ObjectTable {
  /** Larger attributes are moved out of the thin row, which every listing reads. */
  static final int INLINE_ATTRIBUTES_MAX_BYTES = 256;

  static final int CHUNK_ITEMS = 1000;

  private ObjectTable() {}

  public static Optional<ObjectRow> row(Table table, long bucketId, String key) {
    return table.row(Keys.object(bucketId, key), ObjectRow.parser());
  }

  public static Optional<ObjectRecord> read(Table table, long bucketId, String key) {
    return row(table, bucketId, key).map(row -> assemble(table, bucketId, key, row));
  }

  /** The complete version that this thin row describes. */
  public static ObjectRecord assemble(Table table, long bucketId, String key, ObjectRow row) {
    ObjectRecord.Builder object =
        ObjectRecord.newBuilder().setSummary(row.getSummary()).setVersion(row.getVersion());
    if (row.getHasDetail()) {
      object.setAttributes(
          need(table.row(Keys.objectDetail(bucketId, key), ObjectDetailRow.parser()))
              .getAttributes());
    } else {
      object.setAttributes(row.getAttributes());
    }
    if (row.hasSlice()) {
      object.addSlices(row.getSlice());
    }
    for (int i = 0; i < row.getChunks(); i++) {
      byte[] chunkKey = Keys.objectChunk(bucketId, key, chunkVersion(row), i);
      ObjectChunkRow chunk = need(table.row(chunkKey, ObjectChunkRow.parser()));
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
    if (isInline(object)) {
      row.setSlice(object.getSlices(0));
    } else {
      row.setChunks(insertChunks(table, bucketId, key, object));
    }
    table.put(Keys.object(bucketId, key), row.build().toByteArray());
  }

  private static boolean isInline(ObjectRecord object) {
    return object.getSlicesCount() == 1 && object.getPartsCount() == 0;
  }

  private static int insertChunks(Overlay table, long bucketId, String key, ObjectRecord object) {
    int chunks = chunks(object);
    for (int i = 0; i < chunks; i++) {
      byte[] chunkKey = Keys.objectChunk(bucketId, key, object.getVersion(), i);
      table.put(chunkKey, chunk(object, i).toByteArray());
    }
    return chunks;
  }

  private static int chunks(ObjectRecord object) {
    int items = Math.max(object.getSlicesCount(), object.getPartsCount());
    return Math.ceilDiv(items, CHUNK_ITEMS);
  }

  private static ObjectChunkRow chunk(ObjectRecord object, int i) {
    return ObjectChunkRow.newBuilder()
        .addAllSlices(chunkOf(object.getSlicesList(), i))
        .addAllParts(chunkOf(object.getPartsList(), i))
        .setUploadId(i == 0 ? object.getUploadId() : "")
        .build();
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
      table.delete(Keys.objectChunk(bucketId, key, chunkVersion(row), i));
    }
    table.delete(Keys.object(bucketId, key));
  }

  private static long chunkVersion(ObjectRow row) {
    return row.getChunkVersion() != 0 ? row.getChunkVersion() : row.getVersion();
  }

  /**
   * Puts a version with the same attributes in the place of one. Of many slices only the chunks are
   * written that differ.
   *
   * @param row of the version before
   */
  public static void revise(
      Overlay table,
      long bucketId,
      String key,
      ObjectRow row,
      ObjectRecord before,
      ObjectRecord after) {
    ObjectRow.Builder revised =
        row.toBuilder()
            .setSummary(after.getSummary())
            .setVersion(after.getVersion())
            .clearSlice()
            .clearChunks()
            .clearChunkVersion();
    long chunkVersion = row.getChunks() > 0 ? chunkVersion(row) : after.getVersion();
    int chunks = isInline(after) ? 0 : chunks(after);
    for (int i = 0; i < Math.max(chunks, row.getChunks()); i++) {
      byte[] chunkKey = Keys.objectChunk(bucketId, key, chunkVersion, i);
      if (i >= chunks) {
        table.delete(chunkKey);
      } else {
        ObjectChunkRow chunk = chunk(after, i);
        if (i >= row.getChunks() || !chunk.equals(chunk(before, i))) {
          table.put(chunkKey, chunk.toByteArray());
        }
      }
    }
    if (isInline(after)) {
      revised.setSlice(after.getSlices(0));
    } else {
      revised.setChunks(chunks).setChunkVersion(chunkVersion);
    }
    table.put(Keys.object(bucketId, key), revised.build().toByteArray());
  }
}
