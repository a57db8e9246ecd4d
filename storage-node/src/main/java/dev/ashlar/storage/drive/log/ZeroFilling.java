package dev.ashlar.storage.drive.log;

import dev.ashlar.storage.drive.segment.Segment;
import dev.ashlar.storage.drive.segment.SegmentFormat;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * Decides how many zeros a batch writes behind itself. A sync of blocks that were only allocated
 * also writes the journal of the file system, at about 1.5 times the time and CPU. So a small batch
 * writes the blocks of the next ones ahead, in the same write. Large batches do not, because zeros
 * double what the drive writes. Not thread-safe.
 */
final class ZeroFilling {
  /**
   * Where both cost the same on ext4: 64 MiB of zeros take 50 ms, and 512 syncs to blocks that were
   * never written 0.1 ms more each.
   */
  private static final int SMALL_BYTES_MAX = 128 << 10;

  /** So many syncs fill a segment with batches of that size, so one segment tells the load. */
  private static final int BATCHES = 512;

  /** One of so many parts of a segment is written ahead at a time: 512 KiB. */
  private static final int STEPS = 128;

  private static final int PIECE_BYTES = 64 << 10;
  private static final ByteBuffer ZEROS =
      ByteBuffer.allocateDirect(PIECE_BYTES + SegmentFormat.BLOCK)
          .alignedSlice(SegmentFormat.BLOCK)
          .slice(0, PIECE_BYTES)
          .asReadOnlyBuffer();

  private double averageBytes;

  /** How many zeros follow a batch of this size that ends at this offset: whole blocks. */
  int behind(Segment segment, int end, int batchBytes, int segmentBytes) {
    averageBytes += (batchBytes - averageBytes) / BATCHES;
    if (end <= segment.writtenBytes() || Math.max(batchBytes, averageBytes) >= SMALL_BYTES_MAX) {
      return 0;
    }
    return Math.min(SegmentFormat.roundUp(segmentBytes / STEPS), segmentBytes - end);
  }

  /** Adds so many zeros to what is written. */
  static void add(int bytes, List<ByteBuffer> buffers) {
    for (int left = bytes; left > 0; left -= PIECE_BYTES) {
      buffers.add(ZEROS.slice(0, Math.min(left, PIECE_BYTES)));
    }
  }
}
