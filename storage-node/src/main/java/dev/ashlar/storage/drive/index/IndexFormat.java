package dev.ashlar.storage.drive.index;

import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.model.AttemptId;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.ShardId;
import dev.ashlar.storage.drive.segment.Extent;
import dev.ashlar.storage.drive.segment.Extent.Stamp;
import dev.ashlar.storage.drive.segment.LogPosition;
import dev.ashlar.storage.drive.segment.SegmentFormat;
import dev.ashlar.storage.drive.segment.SegmentUsage;
import dev.ashlar.storage.drive.segment.ShardPiece;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;

/**
 * Keys and values of the index. All integers are big-endian.
 *
 * <pre>
 * 0                                            → sequence 8 | segment 8 | offset 4
 *                                                | being rebuilt 1
 * 1 | segment 8                                → live bytes 8 | marks 4 | was moved from 1
 * 2 | session 8 | sequence 8 | slot 1 | block 4 → base extent
 * 3 | session 8 | sequence 8 | slot 1 | page 4  → patches of the page's blocks ({@link PatchPage})
 * 4 | session 8 | sequence 8 | slot 1 | attempt: session 8, sequence 8 | block 4
 *                                              → intent | after 8 | flags 1
 * 5 | session 8 | sequence 8 | slot 1          → folded 8 | lowest segment 8 | highest segment 8
 *
 * extent, intent: length 4 | segment 8 | position 4 | tail position 4 | sequence 8
 *                        | crcs 4 each | revision 8 and altered 8, unless both are 0
 * </pre>
 */
final class IndexFormat {
  static final byte[] POSITION_KEY = {0};
  static final byte USE = 1;
  static final byte BASE = 2;
  static final byte PATCH = 3;
  static final byte INTENT = 4;
  static final byte FOLDED = 5;

  /** Length of key prefixes up to the blob and up to the slot. */
  static final int BLOB_KEY_BYTES = 17;

  static final int SHARD_KEY_BYTES = 18;
  static final int BLOCK_KEY_BYTES = SHARD_KEY_BYTES + 4;
  static final int INTENT_KEY_BYTES = SHARD_KEY_BYTES + 20;

  private static final int CRCS_AT = 28;
  private static final int STAMP_BYTES = 16;
  private static final int INTENT_BYTES = 9;
  private static final int REPLACES = 1;
  private static final int ALTERS = 2;

  static final int VALUE_BYTES_MAX =
      CRCS_AT
          + Integer.BYTES * (SlabPool.MAX_SLAB_BYTES / SegmentFormat.BLOCK)
          + STAMP_BYTES
          + INTENT_BYTES;

  private static final int POSITION_BYTES = 21;
  private static final int USE_BYTES = 13;
  private static final int FOLDED_BYTES = 24;

  private IndexFormat() {}

  private static void check(boolean isWellFormed) {
    if (!isWellFormed) {
      throw new IllegalArgumentException("not a row of the index");
    }
  }

  static void putShard(ByteBuffer key, byte kind, ShardId shard) {
    key.put(kind).putLong(shard.blob().session()).putLong(shard.blob().sequence());
    key.put((byte) shard.slot());
  }

  static void putPageKey(ByteBuffer key, ShardId shard, int number) {
    putShard(key, PATCH, shard);
    key.putInt(number);
  }

  /** The key of a piece that has its own row, unlike patches. */
  static void putKey(ByteBuffer key, ShardId shard, ShardPiece.Role role, int firstBlock) {
    switch (role) {
      case ShardPiece.Base base -> putShard(key, BASE, shard);
      case ShardPiece.Patch patch ->
          throw new IllegalArgumentException("patches are stored by page");
      case ShardPiece.Intent intent -> {
        putShard(key, INTENT, shard);
        key.putLong(intent.attempt().session()).putLong(intent.attempt().sequence());
      }
    }
    key.putInt(firstBlock);
  }

  static void putValue(ByteBuffer value, ShardPiece piece) {
    Extent extent = piece.extent();
    value.putInt(extent.length()).putLong(extent.segment()).putInt(extent.position());
    value.putInt(extent.tailPosition()).putLong(extent.sequence());
    for (int crc : extent.crcs()) {
      value.putInt(crc);
    }
    if (!extent.stamp().equals(Stamp.ORIGINAL)) {
      value.putLong(extent.stamp().revision()).putLong(extent.stamp().altered());
    }
    if (piece.role() instanceof ShardPiece.Intent intent) {
      int flags = (intent.replaces() ? REPLACES : 0) | (intent.alters() ? ALTERS : 0);
      value.putLong(intent.after()).put((byte) flags);
    }
  }

  static byte[] blobKey(byte kind, BlobId blob) {
    return ByteBuffer.allocate(BLOB_KEY_BYTES)
        .put(kind)
        .putLong(blob.session())
        .putLong(blob.sequence())
        .array();
  }

  static byte[] shardKey(byte kind, ShardId shard) {
    ByteBuffer key = ByteBuffer.allocate(SHARD_KEY_BYTES);
    putShard(key, kind, shard);
    return key.array();
  }

  static byte[] baseKey(ShardId shard, int block) {
    ByteBuffer key = ByteBuffer.allocate(BLOCK_KEY_BYTES);
    putShard(key, BASE, shard);
    return key.putInt(block).array();
  }

  static byte[] pageKey(ShardId shard, int number) {
    ByteBuffer key = ByteBuffer.allocate(BLOCK_KEY_BYTES);
    putPageKey(key, shard, number);
    return key.array();
  }

  /** The key prefix of an attempt's pieces of a shard. */
  static byte[] intentKey(ShardId shard, AttemptId attempt) {
    ByteBuffer key = ByteBuffer.allocate(INTENT_KEY_BYTES - 4);
    putShard(key, INTENT, shard);
    return key.putLong(attempt.session()).putLong(attempt.sequence()).array();
  }

  /**
   * The key of a piece.
   *
   * @param attempt prefix from {@link #intentKey(ShardId, AttemptId)}
   */
  static byte[] intentKey(byte[] attempt, int block) {
    return ByteBuffer.allocate(INTENT_KEY_BYTES).put(attempt).putInt(block).array();
  }

  static boolean startsWith(byte[] key, byte[] prefix, int bytes) {
    return key.length >= bytes && Arrays.equals(key, 0, bytes, prefix, 0, bytes);
  }

  static BlobId blob(byte[] key) {
    ByteBuffer bytes = ByteBuffer.wrap(key);
    return new BlobId(bytes.getLong(1), bytes.getLong(9));
  }

  static ShardId shard(byte[] key) {
    return new ShardId(blob(key), key[BLOB_KEY_BYTES] & 0xff);
  }

  static AttemptId attempt(byte[] key) {
    ByteBuffer bytes = ByteBuffer.wrap(key);
    return new AttemptId(bytes.getLong(SHARD_KEY_BYTES), bytes.getLong(SHARD_KEY_BYTES + 8));
  }

  private static int lastInt(byte[] key) {
    return ByteBuffer.wrap(key).getInt(key.length - Integer.BYTES);
  }

  static Extent base(byte[] key, byte[] value) {
    return extent(ShardPiece.Role.BASE, lastInt(key), ByteBuffer.wrap(value));
  }

  /** Adds the patches of a page with blocks from the first to the last. */
  static void addPatches(
      List<Extent> found, byte[] key, byte[] value, int firstBlock, int lastBlock) {
    PatchPage.addTo(found, lastInt(key), ByteBuffer.wrap(value), firstBlock, lastBlock);
  }

  static ShardPiece intent(byte[] key, byte[] value) {
    int end = value.length - INTENT_BYTES;
    ByteBuffer bytes = ByteBuffer.wrap(value);
    byte flags = value[value.length - 1];
    ShardPiece.Intent role =
        new ShardPiece.Intent(
            attempt(key), bytes.getLong(end), (flags & REPLACES) != 0, (flags & ALTERS) != 0);
    return new ShardPiece(shard(key), role, extent(role, lastInt(key), bytes));
  }

  static Extent extent(ShardPiece.Role role, int firstBlock, ByteBuffer value) {
    boolean isIntent = role instanceof ShardPiece.Intent;
    return extent(firstBlock, value, value.limit() - (isIntent ? INTENT_BYTES : 0));
  }

  private static Extent extent(int firstBlock, ByteBuffer value, int bytes) {
    int length = value.getInt(0);
    check(firstBlock >= 0 && length > 0 && value.getLong(4) > 0 && value.getInt(12) >= 0);
    int[] crcs = new int[Math.ceilDiv(length, SegmentFormat.BLOCK)];
    for (int i = 0; i < crcs.length; i++) {
      crcs[i] = value.getInt(CRCS_AT + Integer.BYTES * i);
    }
    int crcsEnd = CRCS_AT + Integer.BYTES * crcs.length;
    check(bytes == crcsEnd || bytes == crcsEnd + STAMP_BYTES);
    return new Extent(
        firstBlock,
        length,
        value.getLong(4),
        value.getInt(12),
        value.getInt(16),
        value.getLong(20),
        crcs,
        bytes == crcsEnd
            ? Stamp.ORIGINAL
            : new Stamp(value.getLong(crcsEnd), value.getLong(crcsEnd + 8)));
  }

  static LogPosition position(ByteBuffer value) {
    check(value.remaining() == POSITION_BYTES);
    return new LogPosition(value.getLong(), value.getLong(), value.getInt(), value.get() != 0);
  }

  static SegmentUsage use(ByteBuffer value) {
    check(value.remaining() == USE_BYTES);
    return new SegmentUsage(value.getLong(), value.getInt(), value.get() != 0);
  }

  static FoldState folded(ByteBuffer bytes) {
    check(bytes.remaining() == FOLDED_BYTES);
    return new FoldState(bytes.getLong(), bytes.getLong(), bytes.getLong());
  }
}
