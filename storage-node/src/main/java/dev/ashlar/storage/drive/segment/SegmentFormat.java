package dev.ashlar.storage.drive.segment;

import dev.ashlar.protocol.model.AttemptId;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.protocol.model.ShardId;
import dev.ashlar.storage.drive.segment.Extent.Stamp;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.UUID;

/**
 * The layout of batches in a segment, drawn in docs/reference/formats.md. All integers are
 * big-endian.
 *
 * <pre>
 * batch     header 64 | records | small payloads and tails | zeros to 4 KiB | bodies of 4 KiB blocks
 * header    magic 4 | version 2 | flags 2 | drive 16 | segment 8 | block in segment 4 | blocks 4
 *           | sequence 8 | records 4 | directory bytes 4 | 0 4 | directory crc32c 4
 * extent    1 1 | slot 1 | flags 2 | length 4 | session 8 | sequence 8 | first block 4
 *           | position 4 | tail position 4 | crc32c 4 of each block
 * folded    3 1 | as extent | revision 8 | altered 8 | crc32c 4 of each block
 * intent    4 1 | as extent | attempt: session 8, sequence 8 | after 8 | crc32c 4 of each block
 * tombstone 2 1 | 0 7 | session 8 | sequence 8 | lowest segment 8 | highest segment 8
 * folding   5 1 | slot 1 | 0 6 | session 8 | sequence 8 | lowest segment 8 | highest segment 8
 *           | attempt: session 8, sequence 8 | revision 8 | altered 8
 * dropping  6 1 | 0 7 | session 8 | sequence 8 | lowest segment 8 | highest segment 8
 *           | attempt: session 8, sequence 8
 * history   7 1 | 0 1 | batches 2 | words 4 | of each batch before this one, newest first:
 *           | changed blobs 4 | hash 4 of each
 * </pre>
 *
 * <p>The directory consists of the header and the records. Its checksum covers all of it except the
 * checksum field.
 */
public final class SegmentFormat {
  public static final int BLOCK = Profile.BLOCK_BYTES;
  public static final int MAGIC = 0x41534842;
  public static final short VERSION = 3;

  /** The version of batches without a history of earlier batches. */
  static final short VERSION_MIN = 1;

  /** Since this version each segment is sealed when the log leaves it. */
  private static final short SEALS_SINCE = 3;

  /** Batch flag: the log continues in another segment. */
  private static final short SEAL = 1;

  private static final int FLAGS_AT = 6;

  public static final int HEADER_BYTES = 64;
  public static final int CRC_AT = 60;
  private static final byte EXTENT = 1;
  private static final byte TOMBSTONE = 2;
  private static final byte FOLDED = 3;
  private static final byte INTENT = 4;
  private static final byte FOLD_MARK = 5;
  private static final byte DISCARD_MARK = 6;
  private static final byte HISTORY = 7;
  public static final int TOMBSTONE_BYTES = 40;
  public static final int FOLD_MARK_BYTES = 72;
  public static final int DISCARD_MARK_BYTES = 56;
  private static final int HISTORY_BYTES = 8;

  /**
   * The payload did not match its checksums when it was moved here. Recovery does not expect it to
   * match.
   */
  public static final short DAMAGED = 1;

  /** The folded bytes replace one block of a base extent. */
  private static final short PATCH = 2;

  /** The shard had the blocks of the intent. */
  private static final short REPLACES = 2;

  /** The intent changes existing bytes. */
  private static final short ALTERS = 4;

  private static final int EXTENT_BYTES = 36;
  private static final int STAMP_BYTES = 16;
  private static final int ATTEMPT_BYTES = 24;

  private SegmentFormat() {}

  public static int pieceHeaderBytes(ShardPiece.Role role, Stamp stamp, int crcCount) {
    return headerBytes(kind(role, stamp)) + Integer.BYTES * crcCount;
  }

  private static byte kind(ShardPiece.Role role, Stamp stamp) {
    return switch (role) {
      case ShardPiece.Base base -> stamp.revision() == 0 ? EXTENT : FOLDED;
      case ShardPiece.Patch patch -> FOLDED;
      case ShardPiece.Intent intent -> INTENT;
    };
  }

  /** Size of a piece's header without checksums. */
  private static int headerBytes(byte kind) {
    return EXTENT_BYTES
        + switch (kind) {
          case FOLDED -> STAMP_BYTES;
          case INTENT -> ATTEMPT_BYTES;
          default -> 0;
        };
  }

  public static int roundUp(int bytes) {
    return (bytes + BLOCK - 1) & -BLOCK;
  }

  /** Writes the batch header and the checksum of the directory. */
  public static void sealDirectory(ByteBuffer batch, BatchHeader header, Checksum checksum) {
    batch.clear();
    batch.putInt(0, MAGIC).putShort(4, header.version());
    batch.putShort(FLAGS_AT, header.isSeal() ? SEAL : 0);
    batch.putLong(8, header.drive().getMostSignificantBits());
    batch.putLong(16, header.drive().getLeastSignificantBits());
    batch.putLong(24, header.segment()).putInt(32, header.offset() / BLOCK);
    batch.putInt(36, header.bytes() / BLOCK).putLong(40, header.sequence());
    batch.putInt(48, header.records()).putInt(52, header.directoryBytes()).putInt(56, 0);
    batch.putInt(CRC_AT, directoryCrc(batch, 0, header.directoryBytes(), checksum));
  }

  public static int directoryCrc(ByteBuffer memory, int at, int directoryBytes, Checksum checksum) {
    checksum.of(memory, at, CRC_AT);
    int crc = checksum.add(memory, at + HEADER_BYTES, directoryBytes - HEADER_BYTES);
    memory.clear();
    return crc;
  }

  public static BatchHeader header(ByteBuffer memory, int at) {
    return new BatchHeader(
        new UUID(memory.getLong(at + 8), memory.getLong(at + 16)),
        memory.getLong(at + 24),
        memory.getInt(at + 32) * BLOCK,
        memory.getInt(at + 36) * BLOCK,
        memory.getLong(at + 40),
        memory.getInt(at + 48),
        memory.getInt(at + 52),
        memory.getShort(at + 4),
        (memory.getShort(at + FLAGS_AT) & SEAL) != 0);
  }

  public static void putPiece(ByteBuffer batch, ShardPiece piece, short damaged) {
    Extent extent = piece.extent();
    int flags = damaged;
    switch (piece.role()) {
      case ShardPiece.Base base -> {}
      case ShardPiece.Patch patch -> flags |= PATCH;
      case ShardPiece.Intent intent ->
          flags |= (intent.replaces() ? REPLACES : 0) | (intent.alters() ? ALTERS : 0);
    }
    byte kind = kind(piece.role(), extent.stamp());
    batch.put(kind).put((byte) piece.shard().slot()).putShort((short) flags);
    batch.putInt(extent.length());
    put(batch, piece.shard().blob());
    batch.putInt(extent.firstBlock()).putInt(extent.position()).putInt(extent.tailPosition());
    if (piece.role() instanceof ShardPiece.Intent intent) {
      put(batch, intent.attempt());
      batch.putLong(intent.after());
    } else if (kind == FOLDED) {
      batch.putLong(extent.stamp().revision()).putLong(extent.stamp().altered());
    }
    for (int crc : extent.crcs()) {
      batch.putInt(crc);
    }
  }

  public static void putMark(ByteBuffer batch, MarkRecord mark) {
    switch (mark) {
      case MarkRecord.Tombstone tombstone -> putMark(batch, TOMBSTONE, 0, mark);
      case MarkRecord.FoldMark fold -> {
        putMark(batch, FOLD_MARK, fold.shard().slot(), mark);
        put(batch, fold.attempt());
        batch.putLong(fold.revision()).putLong(fold.altered());
      }
      case MarkRecord.DiscardMark discard -> {
        putMark(batch, DISCARD_MARK, 0, mark);
        put(batch, discard.attempt());
      }
    }
  }

  private static void putMark(ByteBuffer batch, byte kind, int slot, MarkRecord mark) {
    batch.put(kind).put((byte) slot).putShort((short) 0).putInt(0);
    put(batch, mark.blob());
    batch.putLong(mark.lowestSegment()).putLong(mark.highestSegment());
  }

  static int historyBytes(int words) {
    return HISTORY_BYTES + Integer.BYTES * words;
  }

  public static void putHistory(ByteBuffer batch, ChangeHistory.Stored history) {
    int[] words = history.words();
    batch.put(HISTORY).put((byte) 0).putShort((short) history.batches()).putInt(words.length);
    batch.asIntBuffer().put(words);
    batch.position(batch.position() + Integer.BYTES * words.length);
  }

  private static void put(ByteBuffer batch, BlobId blob) {
    batch.putLong(blob.session()).putLong(blob.sequence());
  }

  private static void put(ByteBuffer batch, AttemptId attempt) {
    batch.putLong(attempt.session()).putLong(attempt.sequence());
  }

  static int recordBytes(ByteBuffer memory, int at) throws IOException {
    byte kind = memory.get(at);
    return switch (kind) {
      case EXTENT, FOLDED, INTENT ->
          headerBytes(kind) + Integer.BYTES * Math.ceilDiv(memory.getInt(at + 4), BLOCK);
      case TOMBSTONE -> TOMBSTONE_BYTES;
      case FOLD_MARK -> FOLD_MARK_BYTES;
      case DISCARD_MARK -> DISCARD_MARK_BYTES;
      case HISTORY -> historyBytes(memory.getInt(at + 4));
      default -> throw new IOException("unknown kind of record: " + kind);
    };
  }

  static boolean isPiece(ByteBuffer memory, int at) {
    byte kind = memory.get(at);
    return kind == EXTENT || kind == FOLDED || kind == INTENT;
  }

  static boolean isHistory(ByteBuffer memory, int at) {
    return memory.get(at) == HISTORY;
  }

  static ChangeHistory.Stored history(ByteBuffer memory, int at) {
    int[] words = new int[memory.getInt(at + 4)];
    for (int i = 0; i < words.length; i++) {
      words[i] = memory.getInt(at + HISTORY_BYTES + Integer.BYTES * i);
    }
    return new ChangeHistory.Stored(Short.toUnsignedInt(memory.getShort(at + 2)), words);
  }

  static MarkRecord mark(ByteBuffer memory, int at) {
    long lowest = memory.getLong(at + 24);
    long highest = memory.getLong(at + 32);
    return switch (memory.get(at)) {
      case FOLD_MARK ->
          new MarkRecord.FoldMark(
              shard(memory, at),
              attempt(memory, at + 40),
              memory.getLong(at + 56),
              memory.getLong(at + 64),
              lowest,
              highest);
      case DISCARD_MARK ->
          new MarkRecord.DiscardMark(blob(memory, at), attempt(memory, at + 40), lowest, highest);
      default -> new MarkRecord.Tombstone(blob(memory, at), lowest, highest);
    };
  }

  static boolean isDamaged(ByteBuffer memory, int at) {
    return (memory.getShort(at + 2) & DAMAGED) != 0;
  }

  static ShardPiece piece(ByteBuffer memory, int at, BatchHeader header) {
    short flags = memory.getShort(at + 2);
    return new ShardPiece(
        shard(memory, at),
        switch (memory.get(at)) {
          case INTENT ->
              new ShardPiece.Intent(
                  attempt(memory, at + EXTENT_BYTES),
                  memory.getLong(at + EXTENT_BYTES + 16),
                  (flags & REPLACES) != 0,
                  (flags & ALTERS) != 0);
          case FOLDED -> (flags & PATCH) != 0 ? ShardPiece.Role.PATCH : ShardPiece.Role.BASE;
          default -> ShardPiece.Role.BASE;
        },
        extent(memory, at, header));
  }

  private static Extent extent(ByteBuffer memory, int at, BatchHeader header) {
    byte kind = memory.get(at);
    int length = memory.getInt(at + 4);
    int[] crcs = new int[Math.ceilDiv(length, BLOCK)];
    int crcsAt = at + headerBytes(kind);
    for (int i = 0; i < crcs.length; i++) {
      crcs[i] = memory.getInt(crcsAt + Integer.BYTES * i);
    }
    return new Extent(
        memory.getInt(at + 24),
        length,
        header.segment(),
        memory.getInt(at + 28),
        memory.getInt(at + 32),
        header.sequence(),
        crcs,
        kind == FOLDED
            ? new Stamp(memory.getLong(at + EXTENT_BYTES), memory.getLong(at + EXTENT_BYTES + 8))
            : Stamp.ORIGINAL);
  }

  private static BlobId blob(ByteBuffer memory, int at) {
    return new BlobId(memory.getLong(at + 8), memory.getLong(at + 16));
  }

  private static ShardId shard(ByteBuffer memory, int at) {
    return new ShardId(blob(memory, at), memory.get(at + 1) & 0xff);
  }

  private static AttemptId attempt(ByteBuffer memory, int at) {
    return new AttemptId(memory.getLong(at), memory.getLong(at + 8));
  }

  /**
   * The header of a batch.
   *
   * @param offset offset of the batch in its segment
   * @param bytes size of the whole batch
   * @param sequence increases by one with each batch over the lifetime of the drive
   * @param isSeal whether the batch is empty and ends its segment
   */
  public record BatchHeader(
      UUID drive,
      long segment,
      int offset,
      int bytes,
      long sequence,
      int records,
      int directoryBytes,
      short version,
      boolean isSeal) {
    /**
     * Whether batches after this one are lost, if it is the last in a segment that the log has
     * left.
     */
    public boolean lacksSeal() {
      return version >= SEALS_SINCE && !isSeal;
    }
  }
}
