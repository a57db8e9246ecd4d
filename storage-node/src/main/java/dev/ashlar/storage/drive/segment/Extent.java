package dev.ashlar.storage.drive.segment;

import dev.ashlar.protocol.model.Profile;
import java.util.Arrays;

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
 * @param stamp which changes of the shard they contain
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

  /** Bytes as they were first written. */
  public Extent(
      int firstBlock,
      int length,
      long segment,
      int position,
      int tailPosition,
      long sequence,
      int[] crcs) {
    this(firstBlock, length, segment, position, tailPosition, sequence, crcs, Stamp.ORIGINAL);
  }

  /**
   * The changes of a shard that folded bytes contain.
   *
   * @param revision up to which they contain all changes of their blocks; 0: none
   * @param altered the last revision that changed bytes which had been there before; 0: none
   */
  public record Stamp(long revision, long altered) {
    public static final Stamp ORIGINAL = new Stamp(0, 0);
  }

  /** Bytes that lie at {@link #position}. */
  public int bodyLength() {
    return tailPosition == 0 ? length : length - length % Profile.BLOCK_BYTES;
  }

  /** Where its last byte ends in the shard. */
  public long end() {
    return (long) firstBlock * Profile.BLOCK_BYTES + length;
  }

  /** The block behind its last one. */
  public int endBlock() {
    return firstBlock + crcs.length;
  }

  public boolean covers(int block) {
    return block >= firstBlock && block < endBlock();
  }

  public boolean liesWhere(Extent other) {
    return segment == other.segment && position == other.position;
  }

  /** Whether it holds a state of its bytes that is not older than the other's. */
  public boolean isAsNewAs(Extent other) {
    int byRevision = Long.compare(stamp.revision, other.stamp.revision);
    return byRevision > 0 || (byRevision == 0 && sequence >= other.sequence);
  }

  public Extent stamped(Stamp newStamp) {
    return new Extent(
        firstBlock, length, segment, position, tailPosition, sequence, crcs, newStamp);
  }

  /** Where one of its blocks lies in the segment. */
  public int positionOf(int block) {
    int from = (block - firstBlock) * Profile.BLOCK_BYTES;
    return from < bodyLength() ? position + from : tailPosition;
  }

  /** One block of it. */
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
