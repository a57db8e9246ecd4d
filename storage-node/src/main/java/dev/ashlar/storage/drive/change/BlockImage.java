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
import java.util.stream.IntStream;

/** The blocks that an intent changes, in memory, as the intent will leave them. */
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
   * Consecutive blocks.
   *
   * @param end where their bytes end in the shard
   * @param at where they lie in the memory
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
   * @param changed ranges of the shard, none of them empty
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

  /** Blocks that a shard of this length has, the last one possibly short. */
  static int blocks(long length) {
    return (int) Math.ceilDiv(length, (long) BLOCK);
  }

  Slab slab() {
    return slab;
  }

  /** Where blocks come from. */
  interface Source {
    /**
     * Puts whole blocks to the beginning of the memory; returns their bytes, the last one possibly
     * short, or 0 if it does not have them.
     */
    int load(ShardRange range, ByteBuffer memory) throws ShardException;
  }

  /**
   * Gets all that the shard had of these blocks; what is behind its end becomes zero.
   *
   * @return false if the source does not have it
   */
  boolean loadAll(Source source) throws ShardException {
    for (Run run : runs) {
      if (!load(source, run.firstBlock(), run.endBlock())) {
        return false;
      }
    }
    return true;
  }

  /** Gets what the shard had of some consecutive blocks; what is behind its end becomes zero. */
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

  /** Whether the shard had anything of what was to be read. */
  boolean hasLoaded() {
    return hasLoaded;
  }

  /** The memory of a range that is changed. */
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

  /** Of all blocks. */
  int[] crcs() {
    return runs.stream()
        .flatMapToInt(run -> IntStream.range(run.firstBlock(), run.endBlock()))
        .map(this::crc)
        .toArray();
  }

  /**
   * What the log stores: neighbours in one piece that are alike in what they are to the shard.
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

  /** Whether the shard had any of the block. */
  private boolean replaces(int block) {
    return block < blocks(target.baseLength());
  }

  /** Whether any byte of the block is changed that the shard had. */
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
