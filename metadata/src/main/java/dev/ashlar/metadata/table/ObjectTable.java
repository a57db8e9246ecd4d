package dev.ashlar.metadata.table;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.WireFormat;
import dev.ashlar.protocol.message.ObjectAttributes;
import dev.ashlar.protocol.message.ObjectChunkRow;
import dev.ashlar.protocol.message.ObjectDetailRow;
import dev.ashlar.protocol.message.ObjectFacts;
import dev.ashlar.protocol.message.ObjectRecord;
import dev.ashlar.protocol.message.ObjectRow;
import dev.ashlar.protocol.message.ObjectSummary;
import dev.ashlar.protocol.message.SliceValue;
import java.io.IOException;
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

  /**
   * The size of the version that this thin row describes, in bytes. Every commit asks for the sizes
   * before and after it, so the rest of the row is not parsed.
   */
  public static long size(byte[] row) {
    try {
      CodedInputStream fields = CodedInputStream.newInstance(row);
      if (!enter(fields, ObjectRow.SUMMARY_FIELD_NUMBER)) {
        return 0;
      }
      fields.pushLimit(fields.readRawVarint32());
      return enter(fields, ObjectSummary.SIZE_FIELD_NUMBER) ? fields.readUInt64() : 0;
    } catch (IOException e) {
      throw new TableFailureException("damaged metadata row", e);
    }
  }

  /** Moves to the value of a field. False: the message does not have it. */
  private static boolean enter(CodedInputStream fields, int number) throws IOException {
    for (int tag = fields.readTag(); tag != 0; tag = fields.readTag()) {
      if (WireFormat.getTagFieldNumber(tag) == number) {
        return true;
      }
      fields.skipField(tag);
    }
    return false;
  }

  /** The complete version that this thin row describes. */
  public static ObjectRecord assemble(Table table, long bucketId, String key, ObjectRow row) {
    ObjectRecord.Builder object =
        ObjectRecord.newBuilder()
            .setSummary(row.getSummary())
            .setVersion(row.getVersion())
            .setVersioned(row.getVersioned())
            .setMoved(row.getMoved());
    withFacts(object, table, bucketId, key, row);
    if (row.getHasDetail()) {
      object.setAttributes(
          need(table.row(detailKey(bucketId, key, row), ObjectDetailRow.parser())).getAttributes());
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

  /** Adds what can be changed of this version without a new one. */
  public static ObjectRecord.Builder withFacts(
      ObjectRecord.Builder object, Table table, long bucketId, String key, ObjectRow row) {
    object.setFactsRevision(row.getFactsRevision());
    if (row.hasLock()) {
      object.setLock(row.getLock());
    }
    if (row.getHasFacts()) {
      object.setFacts(facts(table, bucketId, key, row));
    }
    return object;
  }

  /** Whether {@link #withFacts} adds anything. */
  public static boolean hasFacts(ObjectRow row) {
    return row.getFactsRevision() != 0 || row.hasLock() || row.getHasFacts();
  }

  /** Without what {@link #withFacts} adds. */
  public static ObjectRecord withoutFacts(ObjectRecord object) {
    return object.toBuilder().clearFactsRevision().clearLock().clearFacts().build();
  }

  /** Tags, ACL, wrapped data key and runs of this version. */
  public static ObjectFacts facts(Table table, long bucketId, String key, ObjectRow row) {
    return row.getHasFacts()
        ? need(table.row(Keys.objectFacts(bucketId, key, row.getVersion()), ObjectFacts.parser()))
        : ObjectFacts.getDefaultInstance();
  }

  private static byte[] detailKey(long bucketId, String key, ObjectRow row) {
    return row.getHasDetailOfVersion()
        ? Keys.objectDetail(bucketId, key, row.getVersion())
        : Keys.objectDetail(bucketId, key);
  }

  private static <T> T need(Optional<T> row) {
    return row.orElseThrow(() -> new IllegalStateException("a row of an object is missing"));
  }

  /**
   * Writes the present version of a key that has none.
   *
   * @param hasVersions whether the key may have other versions
   */
  public static void insert(
      Overlay table, long bucketId, String key, ObjectRecord object, boolean hasVersions) {
    ObjectRow.Builder row =
        ObjectRow.newBuilder()
            .setSummary(object.getSummary())
            .setVersion(object.getVersion())
            .setVersioned(object.getVersioned());
    if (object.hasLock()) {
      row.setLock(object.getLock());
    }
    if (object.hasRenamed()) {
      row.setRenamed(object.getRenamed());
    }
    writeFacts(table, bucketId, key, row, object.getFacts());
    ObjectAttributes attributes = object.getAttributes();
    if (attributes.getSerializedSize() <= INLINE_ATTRIBUTES_MAX_BYTES) {
      row.setAttributes(attributes);
    } else {
      row.setHasDetail(true).setHasDetailOfVersion(hasVersions);
      ObjectDetailRow detail = ObjectDetailRow.newBuilder().setAttributes(attributes).build();
      table.put(detailKey(bucketId, key, row.build()), detail.toByteArray());
    }
    if (isInline(object)) {
      row.setSlice(object.getSlices(0));
    } else {
      row.setChunks(insertChunks(table, bucketId, key, object));
    }
    table.put(Keys.object(bucketId, key), row.build().toByteArray());
  }

  /** Writes or removes the facts of a version, and notes in its thin row whether it has any. */
  public static void writeFacts(
      Overlay table, long bucketId, String key, ObjectRow.Builder row, ObjectFacts facts) {
    boolean hasFacts = facts.getSerializedSize() > 0;
    if (hasFacts) {
      table.put(Keys.objectFacts(bucketId, key, row.getVersion()), facts.toByteArray());
    } else if (row.getHasFacts()) {
      table.delete(Keys.objectFacts(bucketId, key, row.getVersion()));
    }
    row.setHasFacts(hasFacts);
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

  /** Removes all rows of a version but its thin row. */
  public static void removeParts(Overlay table, long bucketId, String key, ObjectRow row) {
    if (row.getHasDetail()) {
      table.delete(detailKey(bucketId, key, row));
    }
    if (row.getHasFacts()) {
      table.delete(Keys.objectFacts(bucketId, key, row.getVersion()));
    }
    for (int i = 0; i < row.getChunks(); i++) {
      table.delete(Keys.objectChunk(bucketId, key, chunkVersion(row), i));
    }
  }

  /** The slices of a version. */
  public static List<SliceValue> slices(Table table, long bucketId, String key, ObjectRow row) {
    return row.getChunks() == 0 && row.hasSlice()
        ? List.of(row.getSlice())
        : assemble(table, bucketId, key, row).getSlicesList();
  }

  /** Moves the present version among the older ones. */
  public static void age(Overlay table, long bucketId, String key, ObjectRow row) {
    ObjectRow.Builder aged = row.toBuilder();
    if (row.getHasDetail() && !row.getHasDetailOfVersion()) {
      byte[] detail = need(Optional.ofNullable(table.get(detailKey(bucketId, key, row))));
      table.delete(detailKey(bucketId, key, row));
      aged.setHasDetailOfVersion(true);
      table.put(detailKey(bucketId, key, aged.build()), detail);
    }
    table.delete(Keys.object(bucketId, key));
    OlderVersions.put(table, bucketId, key, aged.build());
  }

  /** Makes an older version the present one of a key that has none. */
  public static void promote(Overlay table, long bucketId, String key, ObjectRow row) {
    OlderVersions.remove(table, bucketId, key, row);
    table.put(Keys.object(bucketId, key), row.toByteArray());
  }

  private static long chunkVersion(ObjectRow row) {
    return row.getChunkVersion() != 0 ? row.getChunkVersion() : row.getVersion();
  }

  /**
   * Puts a version with the same attributes in the place of the present one.
   *
   * @param row of the version before
   * @param after has the facts
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
            .clearMoved()
            .clearHasFacts();
    if (row.getHasFacts()) {
      table.delete(Keys.objectFacts(bucketId, key, row.getVersion()));
      writeFacts(table, bucketId, key, revised, after.getFacts());
    }
    writeSlices(table, bucketId, key, row, before, after, revised);
    table.put(Keys.object(bucketId, key), revised.build().toByteArray());
  }

  /**
   * Gives a version other slices and another summary, and nothing else.
   *
   * @param row of the version as it is, present or older
   * @param after has the position of the move
   */
  public static void move(
      Overlay table,
      long bucketId,
      String key,
      ObjectRow row,
      ObjectRecord before,
      ObjectRecord after) {
    ObjectRow.Builder moved =
        row.toBuilder().setSummary(after.getSummary()).setMoved(after.getMoved());
    if (!after.getSlicesList().equals(before.getSlicesList())) {
      writeSlices(table, bucketId, key, row, before, after, moved);
    }
    boolean isPresent =
        row(table, bucketId, key).filter(r -> r.getVersion() == row.getVersion()).isPresent();
    if (isPresent) {
      table.put(Keys.object(bucketId, key), moved.build().toByteArray());
    } else {
      OlderVersions.put(table, bucketId, key, moved.build());
    }
  }

  /**
   * Replaces the slices and parts of a version. Of many slices only the chunks are written that
   * differ.
   *
   * @param row as it is
   * @param written gets the only slice, or the chunks
   */
  private static void writeSlices(
      Overlay table,
      long bucketId,
      String key,
      ObjectRow row,
      ObjectRecord before,
      ObjectRecord after,
      ObjectRow.Builder written) {
    written.clearSlice().clearChunks().clearChunkVersion();
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
      written.setSlice(after.getSlices(0));
    } else {
      written.setChunks(chunks).setChunkVersion(chunkVersion);
    }
  }
}
