package dev.ashlar.storage.drive.change;

import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardIntent;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.memory.Slab;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.storage.drive.cache.ShardRange;
import dev.ashlar.storage.drive.log.LogRequest.ChangedBlocks;
import dev.ashlar.storage.drive.segment.Checksum;
import dev.ashlar.storage.drive.segment.SegmentFormat;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/** The blocks that an intent changes, in memory, with their new content. */
final class BlockImage {
  private static final int BLOCK = SegmentFormat.BLOCK;
  private static final byte[] ZEROS = new byte[BLOCK];

  private final ShardIntent.Target target;
  private final List<ByteRange> changed;
  private final List<Run> runs = new ArrayList<>();
  private final Slab slab;
  private final Checksum checksum = new Checksum();
  private boolean hasLoaded;

  /**
   * A run of consecutive blocks.
   *
   * @param end end of their bytes in the shard
   * @param at offset in the memory
   */
  private record Run(int firstBlock, int endBlock, long end, int at) {
    int memoryOf(long offset) {
      return at + (int) (offset - (long) firstBlock * BLOCK);
    }

    int length(int block) {
      return (int) Math.min(BLOCK, end - (long) block * BLOCK);
    }
  }

  /**
   * @param changed changed ranges of the shard, none of them empty
   */
  BlockImage(ShardIntent.Target target, List<ByteRange> changed, SlabPool slabs) {
    this.target = target;
    this.changed = changed;
    int bytes = 0;
    List<ByteRange> ordered = new ArrayList<>(changed);
    ordered.sort(Comparator.comparingLong(ByteRange::offset));
    for (int i = 0; i < ordered.size(); ) {
      int firstBlock = (int) (ordered.get(i).offset() / BLOCK);
      int endBlock = firstBlock;
      long end = 0;
      for (; i < ordered.size() && ordered.get(i).offset() / BLOCK <= endBlock; i++) {
        end = Math.max(end, ordered.get(i).end());
        endBlock = (int) Math.ceilDiv(end, (long) BLOCK);
      }
      end = Math.max(end, Math.min((long) endBlock * BLOCK, target.baseLength()));
      runs.add(new Run(firstBlock, endBlock, end, bytes));
      bytes += (endBlock - firstBlock) * BLOCK;
    }
    if (bytes > SlabPool.MAX_SLAB_BYTES) {
      throw new IllegalArgumentException("an intent that touches " + bytes + " bytes");
    }
    slab = slabs.acquire(bytes);
  }

  /** Number of blocks of a shard with this length; the last one may be short. */
  static int blocks(long length) {
    return (int) Math.ceilDiv(length, (long) BLOCK);
  }

  Slab slab() {
    return slab;
  }

  /** A source of blocks. */
  interface Source {
    /**
     * Reads whole blocks to the start of the memory; returns their size, of which the last block
     * may be short, or 0 if it lacks them.
     */
    int load(ShardRange range, ByteBuffer memory) throws ShardException;
  }

  /**
   * Loads all former bytes of these blocks; bytes after the end of the shard become zero.
   *
   * @return false if the source lacks them
   */
  boolean loadAll(Source source) throws ShardException {
    for (Run run : runs) {
      if (!load(source, run.firstBlock(), run.endBlock())) {
        return false;
      }
    }
    return true;
  }

  /**
   * Loads the former bytes of some consecutive blocks; bytes after the end of the shard become
   * zero.
   */
  boolean load(Source source, int firstBlock, int endBlock) throws ShardException {
    long from = (long) firstBlock * BLOCK;
    int at = run(firstBlock).memoryOf(from);
    int memoryBytes = (endBlock - firstBlock) * BLOCK;
    int length = Math.clamp(target.baseLength() - from, 0, memoryBytes);
    if (length > 0) {
      ShardRange range = new ShardRange(target.shard(), target.base(), from, length);
      if (source.load(range, slab.buffer().slice(at, range.memoryBytes())) == 0) {
        return false;
      }
      hasLoaded = true;
    }
    zero(at + length, memoryBytes - length);
    return true;
  }

  boolean hasLoaded() {
    return hasLoaded;
  }

  ByteBuffer slice(ByteRange range) {
    int at = run((int) (range.offset() / BLOCK)).memoryOf(range.offset());
    return slab.buffer().slice(at, (int) range.length());
  }

  int crc(int block) {
    Run run = run(block);
    ByteBuffer memory = slab.buffer();
    int crc = checksum.of(memory, run.memoryOf((long) block * BLOCK), run.length(block));
    memory.clear();
    return crc;
  }

  int[] crcs() {
    int blocks = 0;
    for (Run run : runs) {
      blocks += run.endBlock() - run.firstBlock();
    }
    int[] crcs = new int[blocks];
    int i = 0;
    for (Run run : runs) {
      for (int block = run.firstBlock(); block < run.endBlock(); block++) {
        crcs[i++] = crc(block);
      }
    }
    return crcs;
  }

  /**
   * The pieces to store: adjacent blocks with the same properties form one piece.
   *
   * @param crcs of all blocks
   */
  List<ChangedBlocks> pieces(int[] crcs) {
    List<ChangedBlocks> pieces = new ArrayList<>();
    int crcsBefore = 0;
    for (Run run : runs) {
      for (int from = run.firstBlock(); from < run.endBlock(); ) {
        int to = from + 1;
        while (to < run.endBlock()
            && replaces(to) == replaces(from)
            && alters(to) == alters(from)) {
          to++;
        }
        int at = run.memoryOf((long) from * BLOCK);
        int length = (to - from - 1) * BLOCK + run.length(to - 1);
        int firstCrc = crcsBefore + from - run.firstBlock();
        pieces.add(
            new ChangedBlocks(
                from,
                slab.buffer().slice(at, length),
                Arrays.copyOfRange(crcs, firstCrc, firstCrc + to - from),
                replaces(from),
                alters(from)));
        from = to;
      }
      crcsBefore += run.endBlock() - run.firstBlock();
    }
    return pieces;
  }

  private boolean replaces(int block) {
    return block < blocks(target.baseLength());
  }

  /** Whether any existing byte of the block is changed. */
  private boolean alters(int block) {
    long from = (long) block * BLOCK;
    long to = Math.min(from + BLOCK, target.baseLength());
    for (ByteRange range : changed) {
      if (Math.max(range.offset(), from) < Math.min(range.end(), to)) {
        return true;
      }
    }
    return false;
  }

  private Run run(int block) {
    for (Run run : runs) {
      if (block >= run.firstBlock() && block < run.endBlock()) {
        return run;
      }
    }
    throw new IllegalArgumentException("block " + block);
  }

  private void zero(int at, int length) {
    for (int done = 0; done < length; done += BLOCK) {
      slab.buffer().put(at + done, ZEROS, 0, Math.min(BLOCK, length - done));
    }
  }
}
