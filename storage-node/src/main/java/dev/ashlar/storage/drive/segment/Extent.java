package dev.ashlar.storage.drive.segment;

import dev.ashlar.protocol.model.Profile;
import java.util.Arrays;

/**
 * The place of consecutive bytes of a shard in a segment.
 *
 * @param firstBlock first 4 KiB block of the shard in this extent
 * @param length length in bytes, at least 1
 * @param segment the segment that holds the bytes
 * @param position offset in the segment of all bytes or, if the tail is separate, of the whole
 *     blocks
 * @param tailPosition offset in the segment of the last, short block if it is stored separately;
 *     otherwise 0
 * @param sequence sequence of the batch that wrote the bytes
 * @param crcs CRC32C of each block
 * @param stamp the changes of the shard that the bytes contain
 */
public record Extent(
    int firstBlock,
    int length,
    long segment,
    int position,
    int tailPosition,
    long sequence,
    int[] crcs,
    Stamp stamp) {
  /**
   * The changes of a shard that folded bytes contain.
   *
   * @param revision revision up to which the bytes contain all changes of their blocks; 0: none
   * @param altered last revision that changed existing bytes; 0: none
   */
  public record Stamp(long revision, long altered) {
    public static final Stamp ORIGINAL = new Stamp(0, 0);
  }

  /** Number of bytes at {@link #position}. */
  public int bodyLength() {
    return tailPosition == 0 ? length : length - length % Profile.BLOCK_BYTES;
  }

  /** The end of the extent in the shard, in bytes. */
  public long end() {
    return (long) firstBlock * Profile.BLOCK_BYTES + length;
  }

  public int endBlock() {
    return firstBlock + crcs.length;
  }

  public boolean covers(int block) {
    return block >= firstBlock && block < endBlock();
  }

  public boolean liesWhere(Extent other) {
    return segment == other.segment && position == other.position;
  }

  /** Whether its bytes are not older than the other's. */
  public boolean isAsNewAs(Extent other) {
    int byRevision = Long.compare(stamp.revision, other.stamp.revision);
    return byRevision > 0 || (byRevision == 0 && sequence >= other.sequence);
  }

  /** An extent that is not written yet. */
  public static Extent unplaced(int firstBlock, int length, int[] crcs, Stamp stamp) {
    return new Extent(firstBlock, length, 0, 0, 0, 0, crcs, stamp);
  }

  /** The same bytes written elsewhere. */
  public Extent placed(long newSegment, int newPosition, int newTailPosition, long newSequence) {
    return new Extent(
        firstBlock, length, newSegment, newPosition, newTailPosition, newSequence, crcs, stamp);
  }

  public Extent stamped(Stamp newStamp) {
    return new Extent(
        firstBlock, length, segment, position, tailPosition, sequence, crcs, newStamp);
  }

  public int positionOf(int block) {
    int from = (block - firstBlock) * Profile.BLOCK_BYTES;
    return from < bodyLength() ? position + from : tailPosition;
  }

  public Extent block(int block, Stamp newStamp) {
    int at = block - firstBlock;
    return new Extent(
        block,
        Math.min(Profile.BLOCK_BYTES, length - at * Profile.BLOCK_BYTES),
        segment,
        positionOf(block),
        0,
        sequence,
        Arrays.copyOfRange(crcs, at, at + 1),
        newStamp);
  }
}
