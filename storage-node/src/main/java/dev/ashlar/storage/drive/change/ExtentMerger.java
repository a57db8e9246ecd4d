package dev.ashlar.storage.drive.change;

import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardView;
import dev.ashlar.protocol.memory.Slab;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.model.ShardId;
import dev.ashlar.storage.drive.cache.MergeCandidates;
import dev.ashlar.storage.drive.cache.MergeCandidates.Candidate;
import dev.ashlar.storage.drive.cache.ShardRange;
import dev.ashlar.storage.drive.index.ShardIndex;
import dev.ashlar.storage.drive.log.OpenDrive;
import dev.ashlar.storage.drive.read.ShardReader;
import dev.ashlar.storage.drive.segment.Checksum;
import dev.ashlar.storage.drive.segment.Extent;
import dev.ashlar.storage.drive.segment.SegmentFormat;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.ListIterator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Rewrites small adjacent extents and patches of changed shards as large extents. The replaced
 * pieces become dead, and reads find a shard in few places. Not thread-safe.
 */
public final class ExtentMerger {
  private static final Logger LOG = LoggerFactory.getLogger(ExtentMerger.class);
  private static final int BLOCK = SegmentFormat.BLOCK;

  private static final int MERGED_BLOCKS_MAX = MergeCandidates.MERGED_BLOCKS_MAX;

  /** This many adjacent extents are worth a merge. */
  private static final int EXTENTS_MIN = 8;

  /** So is a shorter extent that no longer grows. */
  private static final int LEFT_BLOCKS_MIN = 8;

  /** Limit per call, because other work waits for it. */
  private static final int LOOKS_MAX = 64;

  /**
   * So are patches of this share of the blocks, which leave as many dead blocks. At this share n ln
   * 4 random blocks of n have been overwritten, so merging causes 1.7 writes of each; at one half
   * it would cause 2.4.
   */
  private static final double PATCHED_SHARE_MIN = 0.75;

  private final ShardIndex index;
  private final ShardReader reader;
  private final SlabPool slabs;
  private final MergeCandidates candidates;
  private final Merger merger;
  private final Checksum checksum = new Checksum();
  private @Nullable Candidate current;
  private int nextBlock;

  /** Has the log writer do a merge and waits for it. */
  public interface Merger {
    void merge(
        ShardId shard, List<Extent> bases, List<Extent> patches, ByteBuffer payload, int[] crcs)
        throws IOException, ShardException;
  }

  /**
   * Adjacent extents that fit into one.
   *
   * @param end end of the last block's bytes
   * @param isFull whether later extents belong to the next group
   */
  private record Group(List<Extent> bases, List<Extent> patches, long end, boolean isFull) {
    int firstBlock() {
      return bases.getFirst().firstBlock();
    }

    int blocks() {
      return bases.getLast().endBlock() - firstBlock();
    }

    boolean isWorthIt() {
      return patches.size() >= PATCHED_SHARE_MIN * blocks()
          || bases.size() >= EXTENTS_MIN
          || (isFull && bases.size() > 1 && hasLeftOver());
    }

    private boolean hasLeftOver() {
      return bases.stream().anyMatch(base -> base.crcs().length < LEFT_BLOCKS_MIN);
    }
  }

  public ExtentMerger(OpenDrive drive, ShardReader reader, Merger merger) {
    index = drive.index();
    slabs = drive.slabs();
    candidates = drive.changed().toMerge();
    this.reader = reader;
    this.merger = merger;
  }

  /** Merges one group; false if none of the next groups is worth it. */
  public boolean mergeOne() throws IOException, ShardException {
    for (int looks = 0; looks < LOOKS_MAX; looks++) {
      Candidate candidate = current;
      if (candidate == null) {
        candidate = candidates.next();
        if (candidate == null) {
          return false;
        }
        current = candidate;
        nextBlock = firstBlock(candidate);
      }
      Group group = nextGroup(candidate);
      if (group == null) {
        current = null;
      } else {
        nextBlock = group.firstBlock() + group.blocks();
        if (group.isWorthIt() && merge(candidate.shard(), group)) {
          return true;
        }
      }
    }
    return false;
  }

  /** The first block of the candidate's group. */
  private int firstBlock(Candidate candidate) throws IOException {
    if (candidate.isWhole()) {
      return 0;
    }
    int block = candidate.block();
    for (Extent base : index.latest().bases(candidate.shard(), block, block)) {
      if (2 * base.crcs().length > MERGED_BLOCKS_MAX) {
        return base.firstBlock(); // two of that size do not fit into one
      }
    }
    return Math.max(0, block - MERGED_BLOCKS_MAX + 1);
  }

  /** The next group; null after the candidate's place. */
  private @Nullable Group nextGroup(Candidate candidate) throws IOException {
    if (!candidate.isWhole() && nextBlock > candidate.block()) {
      return null;
    }
    ShardId shard = candidate.shard();
    ShardIndex.Rows rows = index.latest();
    List<Extent> near = rows.bases(shard, nextBlock, nextBlock + MERGED_BLOCKS_MAX);
    if (near.isEmpty()) {
      return null;
    }
    int firstBlock = near.getFirst().firstBlock();
    List<Extent> bases = new ArrayList<>();
    List<Extent> patches = new ArrayList<>();
    long end = (long) firstBlock * BLOCK;
    boolean isFull = false;
    ListIterator<Extent> allPatches =
        rows.patches(shard, firstBlock, near.getLast().endBlock() - 1).listIterator();
    for (Extent base : near) {
      boolean isNeighbour = end == (long) base.firstBlock() * BLOCK;
      boolean isShort = base.endBlock() - firstBlock <= MERGED_BLOCKS_MAX;
      if (!bases.isEmpty() && !(isNeighbour && isShort)) {
        isFull = isNeighbour;
        break;
      }
      bases.add(base);
      end = base.end();
      while (allPatches.hasNext()) {
        Extent patch = allPatches.next();
        if (patch.firstBlock() >= base.endBlock()) {
          allPatches.previous();
          break;
        }
        patches.add(patch);
        end = patch.endBlock() == base.endBlock() ? patch.end() : end;
      }
    }
    isFull |= bases.getLast().endBlock() - firstBlock == MERGED_BLOCKS_MAX;
    return new Group(bases, patches, end, isFull);
  }

  /** Merges a group; false if it is unreadable, which reads will report. */
  private boolean merge(ShardId shard, Group group) throws IOException, ShardException {
    long folded = index.latest().folded(shard).revision();
    long from = (long) group.firstBlock() * BLOCK;
    int length = (int) (group.end() - from);
    Slab slab = slabs.acquire(group.blocks() * BLOCK);
    try {
      ShardView view = new ShardView(folded, folded, List.of());
      if (!load(new ShardRange(shard, view, from, length), slab.buffer())) {
        return false;
      }
      int[] crcs = new int[group.blocks()];
      for (int i = 0; i < crcs.length; i++) {
        crcs[i] = checksum.of(slab.buffer(), i * BLOCK, Math.min(BLOCK, length - i * BLOCK));
      }
      slab.buffer().clear();
      merger.merge(shard, group.bases(), group.patches(), slab.slice(0, length), crcs);
      return true;
    } finally {
      slab.release();
    }
  }

  private boolean load(ShardRange range, ByteBuffer into) throws IOException {
    try {
      reader.load(range, into);
      return true;
    } catch (ShardException e) {
      LOG.debug("{} is not merged from byte {} on", range.shard(), range.offset(), e);
      return false;
    }
  }
}
