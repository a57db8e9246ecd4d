package dev.ashlar.storage.drive.read;

import dev.ashlar.protocol.client.CommittedAttempt;
import dev.ashlar.protocol.client.ShardData;
import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.client.ShardView;
import dev.ashlar.protocol.memory.Slab;
import dev.ashlar.protocol.model.AttemptId;
import dev.ashlar.protocol.model.ShardId;
import dev.ashlar.storage.drive.cache.ShardRange;
import dev.ashlar.storage.drive.cache.UnfoldedShards;
import dev.ashlar.storage.drive.index.IndexException;
import dev.ashlar.storage.drive.index.ShardIndex;
import dev.ashlar.storage.drive.log.OpenDrive;
import dev.ashlar.storage.drive.segment.Checksum;
import dev.ashlar.storage.drive.segment.Extent;
import dev.ashlar.storage.drive.segment.Segment;
import dev.ashlar.storage.drive.segment.SegmentFiles;
import dev.ashlar.storage.drive.segment.SegmentFormat;
import dev.ashlar.storage.drive.segment.ShardPiece;
import dev.ashlar.storage.io.TooManyOpenFilesException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/** Reads and verifies the 4 KiB blocks of a shard range. Thread-safe. */
public final class ShardReader {
  private static final int BLOCK = SegmentFormat.BLOCK;
  private static final int ATTEMPTS = 4;

  /** Reading up to 32 KiB in vain costs less than another read. */
  private static final int REPLACED_BLOCKS_MAX = 8;

  private static final Extent[] NO_SOURCES = {};

  private final OpenDrive drive;
  private final SegmentFiles segments;
  private final ShardIndex index;
  private final UnfoldedShards unfoldedShards;
  private final IntConsumer onFileRead;
  private final Source waiting = new Waiting();

  /**
   * @param onFileRead called with the size of each read of a segment
   */
  public ShardReader(OpenDrive drive, IntConsumer onFileRead) {
    this.drive = drive;
    segments = drive.segments();
    index = drive.index();
    unfoldedShards = drive.changed().unfolded();
    this.onFileRead = onFileRead;
  }

  public ShardData read(ShardRange range) throws ShardException {
    Slab slab = drive.slabs().acquire(range.memoryBytes());
    boolean done = false;
    try {
      drive.meters().payloadRead(load(range, slab.buffer()));
      done = true;
      return new ShardData(slab, slab.slice((int) (range.offset() % BLOCK), range.length()));
    } finally {
      if (!done) {
        slab.release();
      }
    }
  }

  /**
   * The same on any thread, without waiting for the drive. Only of shards that were never changed.
   *
   * @return null if something is not in memory or the read fails; {@link #read} has the result or
   *     the error then
   */
  public @Nullable ShardData readCached(ShardRange range) {
    if (range.view().lastChange() != 0) {
      return null;
    }
    Slab slab = drive.slabs().acquire(range.memoryBytes());
    boolean done = false;
    try {
      Cached cached = new Cached();
      int bytes = fill(slab.buffer(), range, false, cached);
      if (bytes == 0) {
        return null;
      }
      cached.readBytes.forEach(onFileRead::accept);
      drive.meters().payloadRead(bytes);
      done = true;
      return new ShardData(slab, slab.slice((int) (range.offset() % BLOCK), range.length()));
    } catch (IOException | ShardException e) {
      return null;
    } finally {
      if (!done) {
        slab.release();
      }
    }
  }

  /** Where rows and blocks are read from. */
  private interface Source {
    @Nullable Extent find(ShardId shard, int block) throws IOException, ShardException;

    void read(Segment segment, ByteBuffer target, long position) throws IOException, ShardException;

    void release(Segment segment);

    ShardException corrupt(ShardId shard, Extent extent, int block);
  }

  /** The drive. */
  private final class Waiting implements Source {
    @Override
    public @Nullable Extent find(ShardId shard, int block) throws IOException {
      return index.find(shard, block);
    }

    @Override
    public void read(Segment segment, ByteBuffer target, long position) throws IOException {
      int bytes = target.remaining();
      segment.file().readForRequest(target, position);
      onFileRead.accept(bytes);
    }

    @Override
    public void release(Segment segment) {
      segments.release(segment);
    }

    @Override
    public ShardException corrupt(ShardId shard, Extent extent, int block) {
      drive.meters().corruptBlock();
      return new ShardException(
          ShardFault.CORRUPT,
          shard + " block " + (extent.firstBlock() + block) + " in segment " + extent.segment());
    }
  }

  /** What is in memory. */
  private final class Cached implements Source {
    /** Size of each read; counted only if all of them succeed, as otherwise others follow. */
    final List<Integer> readBytes = new ArrayList<>();

    private static ShardException absent() {
      return new ShardException(ShardFault.UNAVAILABLE, "not in memory");
    }

    @Override
    public Extent find(ShardId shard, int block) throws IOException, ShardException {
      Extent found = index.findCached(shard, block);
      if (found == null) {
        throw absent();
      }
      return found;
    }

    @Override
    public void read(Segment segment, ByteBuffer target, long position) throws ShardException {
      int bytes = target.remaining();
      if (!segment.file().readCached(target, position)) {
        throw absent();
      }
      readBytes.add(bytes);
    }

    @Override
    public void release(Segment segment) {
      segments.releaseLater(segment);
    }

    @Override
    public ShardException corrupt(ShardId shard, Extent extent, int block) {
      return absent();
    }
  }

  /**
   * Reads whole blocks to the start of the buffer; returns their size, of which the last block may
   * be short.
   */
  public int load(ShardRange range, ByteBuffer memory) throws ShardException {
    try {
      // An extent may be moved, and its segment freed, between lookup and read: look again.
      for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        int bytes = fill(memory, range, attempt > 0, waiting);
        if (bytes > 0) {
          return bytes;
        }
      }
    } catch (IOException e) {
      throw ioError(range.shard(), e);
    }
    throw new ShardException(ShardFault.MISSING, range.shard() + " is in a segment that was lost");
  }

  /** Whether memory shows that every change in the view is present. */
  public boolean isKnownToHave(ShardId shard, ShardView view) {
    UnfoldedShards.Known known = unfoldedShards.find(shard);
    return known != null && known.has(view);
  }

  public void checkHas(ShardId shard, ShardView view) throws ShardException {
    if (isKnownToHave(shard, view)) {
      return;
    }
    try (ShardIndex.Rows rows = index.rows()) {
      unfolded(rows, shard, view, 0, 0);
    } catch (IOException e) {
      throw ioError(shard, e);
    }
  }

  private ShardException ioError(ShardId shard, IOException e) {
    drive.meters().ioError();
    // While its index fails a drive cannot tell what it holds.
    ShardFault fault =
        IndexException.in(e) != null
            ? ShardFault.UNAVAILABLE
            : e instanceof TooManyOpenFilesException ? ShardFault.OVERLOADED : ShardFault.IO_ERROR;
    return new ShardException(fault, shard + ": " + e, e);
  }

  /** Consecutive blocks of one extent. */
  private record Run(Extent extent, int firstBlock, int endBlock) {
    int from() {
      return (firstBlock - extent.firstBlock()) * BLOCK;
    }

    int bytes() {
      return Math.min(extent.length(), (endBlock - extent.firstBlock()) * BLOCK) - from();
    }

    /** The size without a separate tail. */
    int bodyBytes() {
      return Math.clamp(extent.bodyLength() - from(), 0, bytes());
    }

    /** Whether the next run is adjacent in the segment as well as in the shard. */
    boolean isBefore(Run next) {
      return endBlock == next.firstBlock
          && bodyBytes() == bytes()
          && next.bodyBytes() > 0
          && extent.segment() == next.extent.segment()
          && extent.position() + from() + bytes() == next.extent.position() + next.from();
    }
  }

  /** Reads the blocks; returns their size, or 0 if a segment was missing. */
  private int fill(ByteBuffer memory, ShardRange range, boolean wasThere, Source source)
      throws IOException, ShardException {
    List<Run> runs = runs(range, wasThere, source);
    Run last = runs.getLast();
    int bytes = (last.firstBlock() - range.firstBlock()) * BLOCK + last.bytes();
    while (!runs.isEmpty()) {
      List<Run> together = takeTogether(runs);
      Segment segment = segments.acquire(together.getFirst().extent().segment());
      if (segment == null) {
        return 0;
      }
      try {
        load(memory, range.firstBlock(), segment, together, source);
      } finally {
        source.release(segment);
      }
      for (Run run : together) {
        int at = (run.firstBlock() - range.firstBlock()) * BLOCK;
        verify(memory, at, range.shard(), run, source);
      }
    }
    return bytes;
  }

  /**
   * Removes the first run and those read together with it: adjacent ones, and later blocks of the
   * same extent after a few replaced blocks. The replaced blocks are overwritten by later runs;
   * memory of earlier runs never is, because an extent is only replaced by newer ones.
   */
  private static List<Run> takeTogether(List<Run> runs) {
    List<Run> together = new ArrayList<>();
    Run last = runs.removeFirst();
    together.add(last);
    for (Iterator<Run> each = runs.iterator(); each.hasNext(); ) {
      Run next = each.next();
      if (next.firstBlock() > last.endBlock() + REPLACED_BLOCKS_MAX) {
        break;
      }
      if (last.isBefore(next) || last.extent().liesWhere(next.extent())) {
        each.remove();
        together.add(next);
        last = next;
      }
    }
    return together;
  }

  private List<Run> runs(ShardRange range, boolean wasThere, Source source)
      throws IOException, ShardException {
    int lastBlock = range.lastBlock();
    boolean isOriginal = range.view().lastChange() == 0;
    @Nullable Extent[] sources = isOriginal ? NO_SOURCES : sources(range);
    List<Run> runs = new ArrayList<>();
    for (int block = range.firstBlock(); block <= lastBlock; ) {
      int at = block - range.firstBlock();
      Extent extent = isOriginal ? source.find(range.shard(), block) : sources[at];
      int endBlock =
          extent == null
              ? block + 1
              : isOriginal
                  ? Math.min(lastBlock + 1, extent.endBlock())
                  : endOfRun(sources, extent, at) + range.firstBlock();
      if (extent == null || extent.end() < Math.min(range.end(), (long) endBlock * BLOCK)) {
        throw absent(range, block, wasThere, source);
      }
      if (extent.stamp().altered() > range.view().revision()) {
        throw gone(range, block);
      }
      runs.add(new Run(extent, block, endBlock));
      block = endBlock;
    }
    return runs;
  }

  private static int endOfRun(@Nullable Extent[] sources, Extent first, int from) {
    int end = from + 1;
    while (end < sources.length) {
      Extent next = sources[end];
      if (next == null || !next.liesWhere(first)) {
        break;
      }
      end++;
    }
    return end;
  }

  private static ShardException absent(ShardRange range, int block, boolean wasThere, Source source)
      throws IOException, ShardException {
    boolean wasRemoved =
        wasThere
            || (block > range.firstBlock()
                && range.view().lastChange() == 0
                && source.find(range.shard(), range.firstBlock()) == null);
    return wasRemoved
        ? gone(range, block)
        : new ShardException(ShardFault.MISSING, range.shard() + " has no block " + block);
  }

  private static ShardException gone(ShardRange range, int block) {
    return new ShardException(
        ShardFault.REVISION_GONE,
        range.shard() + " block " + block + " of revision " + range.view().revision());
  }

  /** The newest extent of each block in the view. */
  private @Nullable Extent[] sources(ShardRange range) throws IOException, ShardException {
    int first = range.firstBlock();
    int last = range.lastBlock();
    @Nullable Extent[] sources = new Extent[last - first + 1];
    // Before the rows are read: these show what was folded since.
    UnfoldedShards.Known known = unfoldedShards.find(range.shard());
    if (known != null && known.has(range.view())) {
      // Later folds show as altered bytes, later merges in the bases behind patches.
      putAll(
          sources, range, unfolded(known.folded(), known.attempts(), range.view()), index.latest());
      return sources;
    }
    try (ShardIndex.Rows rows = index.rows()) {
      putAll(sources, range, unfolded(rows, range.shard(), range.view(), first, last), rows);
    }
    return sources;
  }

  private static void putAll(
      @Nullable Extent[] sources, ShardRange range, List<ShardPiece> unfolded, ShardIndex.Rows rows)
      throws IOException {
    int first = range.firstBlock();
    int last = range.lastBlock();
    for (ShardPiece piece : unfolded.reversed()) {
      putWhereNone(sources, first, piece.extent());
    }
    if (hasNone(sources)) {
      rows.patches(range.shard(), first, last).forEach(each -> putWhereNone(sources, first, each));
    }
    if (hasNone(sources)) {
      rows.bases(range.shard(), first, last).forEach(each -> putWhereNone(sources, first, each));
    }
  }

  private static void putWhereNone(@Nullable Extent[] sources, int first, Extent extent) {
    int from = Math.max(0, extent.firstBlock() - first);
    int to = Math.min(sources.length, extent.endBlock() - first);
    for (int i = from; i < to; i++) {
      sources[i] = sources[i] == null ? extent : sources[i];
    }
  }

  private static boolean hasNone(@Nullable Extent[] sources) {
    return Arrays.asList(sources).contains(null);
  }

  /**
   * The unfolded pieces of the view's attempts for these blocks, oldest first.
   *
   * @throws ShardException {@link ShardFault#MISSING} unless every change in the view is present
   */
  static List<ShardPiece> unfolded(
      ShardIndex.Rows rows, ShardId shard, ShardView view, int firstBlock, int lastBlock)
      throws IOException, ShardException {
    long folded = rows.folded(shard).revision();
    if (folded < view.folded()) {
      throw new ShardException(
          ShardFault.MISSING, shard + " is folded up to " + folded + ", not to " + view.folded());
    }
    List<AttemptId> attempts =
        view.unfoldedAfter(folded).stream().map(CommittedAttempt::attempt).toList();
    if (attempts.isEmpty()) {
      return List.of();
    }
    return unfolded(folded, rows.intents(shard, attempts, firstBlock, lastBlock), view);
  }

  private static List<ShardPiece> unfolded(
      long folded, Map<AttemptId, List<ShardPiece>> intents, ShardView view) throws ShardException {
    List<ShardPiece> found = new ArrayList<>();
    for (CommittedAttempt attempt : view.unfoldedAfter(folded)) {
      List<ShardPiece> pieces = intents.get(attempt.attempt());
      if (pieces == null) {
        throw new ShardException(ShardFault.MISSING, "the shard has nothing of " + attempt);
      }
      found.addAll(pieces);
    }
    return found;
  }

  private void load(
      ByteBuffer memory, int firstBlock, Segment segment, List<Run> together, Source source)
      throws IOException, ShardException {
    try {
      loadAtOnce(memory, firstBlock, segment, together, source);
    } catch (IOException e) {
      if (together.size() == 1) {
        throw e;
      }
      // The unreadable part may lie between the runs.
      for (Run run : together) {
        loadAtOnce(memory, firstBlock, segment, List.of(run), source);
      }
    }
  }

  /** Reads the runs and the bytes between them, then a separate tail of the last one. */
  private void loadAtOnce(
      ByteBuffer memory, int firstBlock, Segment segment, List<Run> together, Source source)
      throws IOException, ShardException {
    Run first = together.getFirst();
    Run last = together.getLast();
    int at = (first.firstBlock() - firstBlock) * BLOCK;
    int bytes = (last.firstBlock() - first.firstBlock()) * BLOCK + last.bodyBytes();
    if (bytes > 0) {
      memory.limit(at + bytes).position(at);
      source.read(segment, memory, first.extent().position() + first.from());
    }
    int tailBytes = last.bytes() - last.bodyBytes();
    if (tailBytes > 0) {
      int tailFrom = last.from() + last.bodyBytes() - last.extent().bodyLength();
      memory.limit(at + bytes + tailBytes).position(at + bytes);
      source.read(segment, memory, last.extent().tailPosition() + tailFrom);
    }
  }

  private static void verify(ByteBuffer memory, int at, ShardId shard, Run run, Source source)
      throws ShardException {
    Extent extent = run.extent();
    int firstCrc = run.firstBlock() - extent.firstBlock();
    int bad = new Checksum().firstMismatch(memory, at, run.bytes(), extent.crcs(), firstCrc);
    memory.clear();
    if (bad >= 0) {
      throw source.corrupt(shard, extent, bad);
    }
  }
}
