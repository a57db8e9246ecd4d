package dev.ashlar.storage.drive;

import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.protocol.model.ShardId;
import java.nio.ByteBuffer;
import java.util.UUID;

/**
 * How batches lie in a segment; drawn in docs/formats.md. All integers are big-endian.
 *
 * <pre>
 * batch     header 64 | records | small payloads and tails | zeros to 4 KiB | bodies of 4 KiB blocks
 * header    magic 4 | version 2 | 0 2 | drive 16 | segment 8 | block in segment 4 | blocks 4
 *           | sequence 8 | records 4 | directory bytes 4 | 0 4 | directory crc32c 4
 * extent    1 1 | slot 1 | flags 2 | length 4 | session 8 | sequence 8 | first block 4
 *           | position 4 | tail position 4 | crc32c 4 of each block
 * tombstone 2 1 | 0 7 | session 8 | sequence 8 | lowest segment 8 | highest segment 8
 * </pre>
 *
 * The directory is the header and the records; its checksum covers all of it but itself.
 */
final class SegmentFormat {
  static final int BLOCK = Profile.BLOCK_BYTES;
  static final int MAGIC = 0x41534842;
  static final short VERSION = 1;
  static final int HEADER_BYTES = 64;
  static final int CRC_AT = 60;
  static final byte EXTENT = 1;
  static final byte TOMBSTONE = 2;
  static final int TOMBSTONE_BYTES = 40;

  /**
   * The payload did not match its checksums when it was moved here: recovery must not expect it.
   */
  static final short DAMAGED = 1;

  private static final int EXTENT_BYTES = 36;

  private SegmentFormat() {}

  static int extentHeaderBytes(int crcCount) {
    return EXTENT_BYTES + Integer.BYTES * crcCount;
  }

  static int roundUp(int bytes) {
    return (bytes + BLOCK - 1) & -BLOCK;
  }

  /** Writes the batch header and, over the finished directory, its checksum. */
  static void sealDirectory(ByteBuffer batch, BatchHeader header, Checksum checksum) {
    batch.clear();
    batch.putInt(0, MAGIC).putShort(4, VERSION).putShort(6, (short) 0);
    batch.putLong(8, header.drive().getMostSignificantBits());
    batch.putLong(16, header.drive().getLeastSignificantBits());
    batch.putLong(24, header.segment()).putInt(32, header.offset() / BLOCK);
    batch.putInt(36, header.bytes() / BLOCK).putLong(40, header.sequence());
    batch.putInt(48, header.records()).putInt(52, header.directoryBytes()).putInt(56, 0);
    batch.putInt(CRC_AT, directoryCrc(batch, 0, header.directoryBytes(), checksum));
  }

  static int directoryCrc(ByteBuffer memory, int at, int directoryBytes, Checksum checksum) {
    checksum.of(memory, at, CRC_AT);
    int crc = checksum.add(memory, at + HEADER_BYTES, directoryBytes - HEADER_BYTES);
    memory.clear();
    return crc;
  }

  static BatchHeader header(ByteBuffer memory, int at) {
    return new BatchHeader(
        new UUID(memory.getLong(at + 8), memory.getLong(at + 16)),
        memory.getLong(at + 24),
        memory.getInt(at + 32) * BLOCK,
        memory.getInt(at + 36) * BLOCK,
        memory.getLong(at + 40),
        memory.getInt(at + 48),
        memory.getInt(at + 52));
  }

  static void putExtent(ByteBuffer batch, ShardId shard, Extent extent, short flags) {
    batch.put(EXTENT).put((byte) shard.slot()).putShort(flags).putInt(extent.length());
    batch.putLong(shard.blob().session()).putLong(shard.blob().sequence());
    batch.putInt(extent.firstBlock()).putInt(extent.position()).putInt(extent.tailPosition());
    for (int crc : extent.crcs()) {
      batch.putInt(crc);
    }
  }

  static void putTombstone(ByteBuffer batch, Tombstone tombstone) {
    batch.put(TOMBSTONE).put((byte) 0).putShort((short) 0).putInt(0);
    batch.putLong(tombstone.blob().session()).putLong(tombstone.blob().sequence());
    batch.putLong(tombstone.lowestSegment()).putLong(tombstone.highestSegment());
  }

  static BlobId blob(ByteBuffer memory, int at) {
    return new BlobId(memory.getLong(at + 8), memory.getLong(at + 16));
  }

  static Tombstone tombstone(ByteBuffer memory, int at) {
    return new Tombstone(blob(memory, at), memory.getLong(at + 24), memory.getLong(at + 32));
  }

  static boolean isDamaged(ByteBuffer memory, int at) {
    return (memory.getShort(at + 2) & DAMAGED) != 0;
  }

  static ShardId shard(ByteBuffer memory, int at) {
    return new ShardId(blob(memory, at), memory.get(at + 1) & 0xff);
  }

  static Extent extent(ByteBuffer memory, int at, BatchHeader header) {
    int length = memory.getInt(at + 4);
    int[] crcs = new int[Math.ceilDiv(length, BLOCK)];
    for (int i = 0; i < crcs.length; i++) {
      crcs[i] = memory.getInt(at + EXTENT_BYTES + Integer.BYTES * i);
    }
    return new Extent(
        memory.getInt(at + 24),
        length,
        header.segment(),
        memory.getInt(at + 28),
        memory.getInt(at + 32),
        header.sequence(),
        crcs);
  }

  /**
   * What stands before a batch's records.
   *
   * @param offset of the batch in its segment
   * @param bytes of the whole batch
   * @param sequence counts up by one from batch to batch over the drive's life
   */
  record BatchHeader(
      UUID drive,
      long segment,
      int offset,
      int bytes,
      long sequence,
      int records,
      int directoryBytes) {}
}
