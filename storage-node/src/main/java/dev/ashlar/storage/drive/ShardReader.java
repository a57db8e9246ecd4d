package dev.ashlar.storage.drive;

import dev.ashlar.protocol.client.ShardData;
import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.memory.Slab;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.model.ShardId;
import java.io.IOException;
import java.nio.ByteBuffer;

/** Reads the 4 KiB blocks that hold a range of a shard, and verifies each. For any thread. */
final class ShardReader {
  private static final int BLOCK = SegmentFormat.BLOCK;
  private static final int ATTEMPTS = 4;

  private final Segments segments;
  private final ShardIndex index;
  private final SlabPool slabs;
  private final DriveMeters meters;

  ShardReader(Segments segments, SegmentLog.Parts parts) {
    this.segments = segments;
    this.index = parts.index();
    this.slabs = parts.slabs();
    this.meters = parts.meters();
  }

  ShardData read(ShardId shard, long offset, int length) throws ShardException {
    int firstBlock = (int) (offset / BLOCK);
    int lastBlock = (int) ((offset + length - 1) / BLOCK);
    try {
      // An extent may be moved, and its segment freed, between look-up and read: look again.
      for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        Slab slab = slabs.acquire((lastBlock - firstBlock + 1) * BLOCK);
        boolean done = false;
        try {
          done = fill(slab.buffer(), shard, offset, length, attempt > 0);
          if (done) {
            return new ShardData(slab, slab.slice((int) (offset % BLOCK), length));
          }
        } finally {
          if (!done) {
            slab.release();
          }
        }
      }
    } catch (IOException e) {
      meters.ioError();
      throw new ShardException(ShardFault.IO_ERROR, shard + ": " + e, e);
    }
    throw new ShardException(ShardFault.MISSING, shard + " lies in a segment that was lost");
  }

  /** False if a segment was not there. */
  private boolean fill(ByteBuffer memory, ShardId shard, long offset, int length, boolean wasThere)
      throws IOException, ShardException {
    int firstBlock = (int) (offset / BLOCK);
    int lastBlock = (int) ((offset + length - 1) / BLOCK);
    for (int block = firstBlock; block <= lastBlock; ) {
      Extent extent = index.find(shard, block);
      if (extent == null || !reaches(extent, lastBlock, offset + length)) {
        throw new ShardException(
            wasThere || (block > firstBlock && index.find(shard, firstBlock) == null)
                ? ShardFault.REVISION_GONE
                : ShardFault.MISSING,
            shard + " has no block " + block);
      }
      int endBlock = Math.min(lastBlock + 1, extent.firstBlock() + extent.crcs().length);
      Segment segment = segments.acquire(extent.segment());
      if (segment == null) {
        return false;
      }
      try {
        int bytes = load(memory, (block - firstBlock) * BLOCK, segment, extent, block, endBlock);
        verify(memory, (block - firstBlock) * BLOCK, bytes, shard, extent, block);
      } finally {
        segments.release(segment);
      }
      block = endBlock;
    }
    return true;
  }

  /** Whether it is whole where the range goes on behind it, and long enough where it ends. */
  private static boolean reaches(Extent extent, int lastBlock, long end) {
    return extent.covers(lastBlock)
        ? (long) extent.firstBlock() * BLOCK + extent.length() >= end
        : extent.length() % BLOCK == 0;
  }

  /** Reads these blocks of the extent; returns the number of bytes. */
  private int load(
      ByteBuffer memory, int at, Segment segment, Extent extent, int block, int endBlock)
      throws IOException {
    int from = (block - extent.firstBlock()) * BLOCK;
    int to = Math.min(extent.length(), (endBlock - extent.firstBlock()) * BLOCK);
    int body = extent.bodyLength();
    if (from < body) {
      int bytes = Math.min(to, body) - from;
      segment.file().read(memory.limit(at + bytes).position(at), extent.position() + from);
      meters.read(bytes);
    }
    if (to > body) {
      int tailFrom = Math.max(from, body);
      int bytes = to - tailFrom;
      int tailAt = at + tailFrom - from;
      memory.limit(tailAt + bytes).position(tailAt);
      segment.file().read(memory, extent.tailPosition() + tailFrom - body);
      meters.read(bytes);
    }
    return to - from;
  }

  private void verify(ByteBuffer memory, int at, int bytes, ShardId shard, Extent extent, int block)
      throws ShardException {
    int bad =
        new Checksum().firstMismatch(memory, at, bytes, extent.crcs(), block - extent.firstBlock());
    memory.clear();
    if (bad >= 0) {
      meters.corruptBlock();
      throw new ShardException(
          ShardFault.CORRUPT,
          shard + " block " + (extent.firstBlock() + bad) + " in segment " + extent.segment());
    }
  }
}
