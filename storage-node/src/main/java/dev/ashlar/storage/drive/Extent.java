package dev.ashlar.storage.drive;

import dev.ashlar.protocol.model.Profile;

/**
 * Where consecutive bytes of a shard lie.
 *
 * @param firstBlock the shard's 4 KiB block with which they begin
 * @param length bytes, at least 1
 * @param segment the segment that holds them
 * @param position in the segment, of all bytes or, when there is a tail, of the whole blocks
 * @param tailPosition in the segment, of the last, short block when it lies apart; otherwise 0
 * @param sequence of the batch that wrote them
 * @param crcs CRC32C of each block
 */
record Extent(
    int firstBlock,
    int length,
    long segment,
    int position,
    int tailPosition,
    long sequence,
    int[] crcs) {

  /** Bytes that lie at {@link #position}. */
  int bodyLength() {
    return tailPosition == 0 ? length : length - length % Profile.BLOCK_BYTES;
  }

  /** What the extent takes in its segment, rounding of the batch not counted. */
  int storedBytes() {
    return SegmentFormat.extentHeaderBytes(crcs.length) + length;
  }

  boolean covers(int block) {
    return block >= firstBlock && block < firstBlock + crcs.length;
  }

  boolean liesWhere(Extent other) {
    return segment == other.segment && position == other.position;
  }
}
