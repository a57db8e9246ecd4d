package dev.ashlar.storage.drive.segment;

import dev.ashlar.storage.drive.config.DriveConfig;
import dev.ashlar.storage.drive.metrics.DriveMetrics;
import dev.ashlar.storage.io.RawFiles;
import dev.ashlar.storage.io.TooManyOpenFilesException;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The segment files of a drive and their disk space. Segment ids are never reused. Files are: a
 * freed segment becomes a spare, which is later renamed to a new segment. Spares are free space.
 */
public final class SegmentFiles implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(SegmentFiles.class);
  private static final String SPARE_PREFIX = "spare-";
  private static final int SPARES_MIN = 2;
  private static final int SPARES_MAX = 64;

  /** Spares may hold one of so many bytes that are free beside them. */
  private static final int SPARES_SHARE = 32;

  /** How many spares at a time are given back to the file system. */
  private static final int GIVEN_BACK_MAX = 4;

  /**
   * What a segment is needed for, and how many free segments it has to leave. Moves may use the
   * last one: they free more than they take, so even a full drive can be compacted. New data also
   * leaves segments for each other drive of the file system. Deletes and moves do not, because the
   * file system may already be too full for that.
   */
  public enum Need {
    NEW_DATA(DriveConfig.Limits.SEGMENTS_LEFT_BY_NEW_DATA),
    DELETE(1),
    MOVE(0);

    private final int segmentsLeft;

    Need(int segmentsLeft) {
      this.segmentsLeft = segmentsLeft;
    }
  }

  private final RawFiles files;
  private final DriveConfig.Limits limits;
  private final IntSupplier drivesOnFileSystem;
  private final DriveMetrics meters;
  private final NavigableMap<Long, Segment> byId = new ConcurrentSkipListMap<>();

  /** Ids of segments in use or waiting for their last reader. */
  private final ConcurrentSkipListSet<Long> onDrive = new ConcurrentSkipListSet<>();

  /** Those of them that hold old copies of moved pieces. */
  private final ConcurrentSkipListSet<Long> movedFrom = new ConcurrentSkipListSet<>();

  /** Those of them that are kept although nothing in them is needed. */
  private final ConcurrentSkipListSet<Long> leftBehind = new ConcurrentSkipListSet<>();

  /** Those of them that have no user any more and wait to be recycled. */
  private final Queue<Segment> unused = new ConcurrentLinkedQueue<>();

  private final ReentrantLock lock = new ReentrantLock();
  private final ArrayDeque<Spare> spares = new ArrayDeque<>();
  private long lastSpare;
  private long lastId;
  private volatile boolean full;
  private volatile int sparesMax = SPARES_MIN;
  private volatile long freeBytes;
  private volatile long newDataFreeBytes;
  private volatile long usedBytes;
  private volatile long usableBytes;

  /**
   * A file that waits to become a segment.
   *
   * @param writtenBytes as {@link Segment#writtenBytes}
   */
  private record Spare(String name, int writtenBytes) {}

  /**
   * Opens existing files and deletes incomplete ones left by a crash.
   *
   * @param drivesOnFileSystem number of open drives on the same file system, including this one
   */
  public SegmentFiles(
      RawFiles files,
      DriveConfig.Limits limits,
      Map<Long, SegmentUsage> uses,
      IntSupplier drivesOnFileSystem,
      DriveMetrics meters)
      throws IOException {
    this.files = files;
    this.meters = meters;
    this.limits = limits;
    this.drivesOnFileSystem = drivesOnFileSystem;
    for (String name : files.list()) {
      if (Segment.isSegment(name)) {
        openSegment(name, uses);
      } else if (name.startsWith(SPARE_PREFIX)) {
        openSpare(name);
      }
    }
    lastId =
        Stream.concat(byId.keySet().stream(), uses.keySet().stream())
            .mapToLong(id -> id)
            .max()
            .orElse(0);
    updateFreeSpace();
    giveBack(Integer.MAX_VALUE);
  }

  private void openSegment(String name, Map<Long, SegmentUsage> uses) throws IOException {
    long id = Segment.idOf(name);
    SegmentUsage use = uses.getOrDefault(id, SegmentUsage.NONE);
    long size = files.size(name);
    if (size != limits.segmentBytes()) {
      throw new IOException(
          name
              + " has "
              + size
              + " bytes, but the configured segment size is "
              + limits.segmentBytes());
    }
    byId.put(id, new Segment(id, files.open(name), use, limits.segmentBytes()));
    onDrive.add(id);
    if (use.wasMovedFrom()) {
      movedFrom.add(id);
    }
  }

  private void openSpare(String name) throws IOException {
    if (files.size(name) == limits.segmentBytes()) {
      spares.add(new Spare(name, limits.segmentBytes()));
      lastSpare =
          Math.max(lastSpare, Long.parseLong(name, SPARE_PREFIX.length(), name.length(), 16));
    } else {
      files.delete(name);
    }
  }

  /** A segment, which the caller has to {@link #release}; null if it no longer exists. */
  public @Nullable Segment acquire(long id) {
    Segment segment = byId.get(id);
    return segment != null && segment.acquire() ? segment : null;
  }

  public @Nullable Segment get(long id) {
    return byId.get(id);
  }

  public void release(Segment segment) {
    if (segment.release()) {
      recycle(segment);
    }
  }

  /** As {@link #release}, without waiting for the drive: {@link #prepare} recycles the file. */
  public void releaseLater(Segment segment) {
    if (segment.release()) {
      unused.add(segment);
    }
  }

  public Collection<Segment> all() {
    return byId.values();
  }

  public Collection<Segment> after(long id) {
    return byId.tailMap(id, false).values();
  }

  public void markMovedFrom(long id) {
    if (!leftBehind.contains(id)) {
      movedFrom.add(id);
    }
  }

  /**
   * Keeps an empty segment permanently, so that a replay meets the damage in it. Marks need not
   * outlive its records, otherwise all of them would have to be moved along forever. A replay that
   * meets damage begins a new incarnation, in which repair reads every shard before it counts;
   * deleted blobs that reappear there are removed by the light scrub.
   */
  public void leaveBehind(Segment segment) {
    leftBehind.add(segment.id());
    movedFrom.remove(segment.id());
  }

  /**
   * The segments in which a replay may meet records that lie, according to the index, between
   * {@code lowest} and {@code highest}: copies may exist in segments from which pieces were moved.
   */
  public Span withCopies(long lowest, long highest) {
    Long lowestMoved = movedFrom.ceiling(0L);
    Long highestMoved = movedFrom.floor(Long.MAX_VALUE);
    return lowestMoved == null || highestMoved == null // the last one may just have been freed
        ? new Span(lowest, highest)
        : new Span(Math.min(lowest, lowestMoved), Math.max(highest, highestMoved));
  }

  /** An inclusive range of segments. */
  public record Span(long lowest, long highest) {}

  /** Whether a segment other than this one may hold records that the mark refers to. */
  public boolean needs(MarkRecord mark, long otherThan) {
    for (long id : onDrive.subSet(mark.lowestSegment(), true, mark.highestSegment(), true)) {
      if (id != otherThan && !leftBehind.contains(id)) {
        return true;
      }
    }
    return false;
  }

  /** What to do before the log continues in another segment. */
  public interface Leaving {
    void run() throws IOException;
  }

  /**
   * Allocates a segment with a durable name.
   *
   * @param leaving runs first, and only if there is space
   * @return null if there is no space for this need
   */
  public @Nullable Segment allocate(Need need, Leaving leaving) throws IOException {
    lock.lock();
    try {
      if (!hasRoomFor(need) || (spares.isEmpty() && !addSpare())) {
        full = true;
        return null;
      }
      leaving.run();
      long id = ++lastId;
      String name = Segment.fileName(id);
      Spare spare = spares.element();
      makeOf(spare.name(), name);
      spares.remove();
      Segment segment = new Segment(id, files.open(name), SegmentUsage.NONE, spare.writtenBytes());
      byId.put(id, segment);
      onDrive.add(id);
      updateFreeSpace();
      return segment;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Durably renames a spare. Restores its name if too many files are open to sync the directory.
   */
  private void makeOf(String spare, String segment) throws IOException {
    files.rename(spare, segment);
    try {
      files.syncDirectory();
    } catch (TooManyOpenFilesException e) {
      files.rename(segment, spare);
      throw e;
    }
  }

  /**
   * Recycles files without users, prepares the next segment in advance, and gives back spares that
   * the file system needs. The drive is no longer full once there is space for the next segment or
   * in the active one.
   */
  public void prepare(int activeRoomBytes) throws IOException {
    lock.lock();
    try {
      for (Segment segment = unused.poll(); segment != null; segment = unused.poll()) {
        recycle(segment);
      }
      boolean hasRoom = hasRoomFor(Need.NEW_DATA);
      if (hasRoom && spares.isEmpty()) {
        hasRoom = addSpare();
      }
      updateFreeSpace();
      giveBack(GIVEN_BACK_MAX);
      boolean hasActiveRoom = activeRoomBytes >= limits.batchBytesMax() && mayFill(Need.NEW_DATA);
      if (hasRoom || hasActiveRoom) {
        full = false;
      }
    } finally {
      lock.unlock();
    }
  }

  /** Deletes at most so many of the spares that are too many. */
  private void giveBack(int max) throws IOException {
    boolean areTooMany = spares.size() > sparesMax;
    for (int i = 0; i < max && spares.size() > sparesMax; i++) {
      delete(spares.removeLast()); // what a crash brings back is a spare again
    }
    if (areTooMany) {
      updateFreeSpace();
    }
  }

  private void delete(Spare spare) {
    try {
      files.delete(spare.name());
    } catch (IOException e) {
      LOG.warn("{}: {} could not be deleted: {}", files, spare.name(), e.toString());
    }
  }

  /** Whether new data was refused a segment and no space has been freed since. */
  public boolean isFull() {
    return full;
  }

  /**
   * Whether writing to the active segment leaves enough free space. Otherwise new data would use up
   * the reserve through segments begun by moves.
   */
  public boolean mayFill(Need need) {
    return freeBytesFor(need) >= bytesLeftBy(need);
  }

  /** Removes a segment without live pieces or needed marks from the log. */
  public void retire(Segment segment) {
    byId.remove(segment.id());
    release(segment);
  }

  /**
   * Size of all segments as of the last check: callers must not wait for a hanging drive. Spares
   * are not among them.
   */
  public long usedBytes() {
    return usedBytes;
  }

  /** Capacity for segments as of the last check. */
  public long capacityBytes() {
    return Math.min(limits.capacityBytesMax(), usedBytes + usableBytes);
  }

  /** Capacity for new data: without the space that other drives of the file system need. */
  public long newDataCapacityBytes() {
    return Math.min(limits.capacityBytesMax(), usedBytes + usableBytes - otherDrivesBytes());
  }

  public long liveBytes() {
    return byId.values().stream().mapToLong(segment -> segment.use().liveBytes()).sum();
  }

  public int count() {
    return byId.size();
  }

  public int segmentBytes() {
    return limits.segmentBytes();
  }

  @Override
  public void close() throws IOException {
    for (Segment segment : byId.values()) {
      segment.file().close();
    }
    for (Segment segment : unused) {
      segment.file().close();
    }
  }

  /** Whether there was space for another segment as of the last check. */
  public boolean mayAllocate(Need need) {
    return freeBytesFor(need) >= limits.segmentBytes() + bytesLeftBy(need);
  }

  private boolean hasRoomFor(Need need) throws IOException {
    updateFreeSpace();
    return mayAllocate(need);
  }

  private long freeBytesFor(Need need) {
    return need == Need.NEW_DATA ? newDataFreeBytes : freeBytes;
  }

  private long bytesLeftBy(Need need) {
    long reserve = need == Need.NEW_DATA ? limits.reserveBytes() : 0;
    return (long) need.segmentsLeft * limits.segmentBytes() + reserve;
  }

  private void updateFreeSpace() throws IOException {
    long spareBytes = (long) spares.size() * limits.segmentBytes();
    long fileSystemBytes = files.usableBytes();
    usedBytes = (long) onDrive.size() * limits.segmentBytes();
    usableBytes = spareBytes + fileSystemBytes;
    long roomBytes = limits.capacityBytesMax() - usedBytes - spareBytes;
    freeBytes = spareBytes + Math.min(roomBytes, fileSystemBytes);
    newDataFreeBytes = spareBytes + Math.min(roomBytes, fileSystemBytes - otherDrivesBytes());
    long shareBytes = Math.min(roomBytes, fileSystemBytes) / SPARES_SHARE;
    sparesMax = Math.clamp(shareBytes / limits.segmentBytes(), SPARES_MIN, SPARES_MAX);
  }

  /**
   * Space that new data leaves for other drives of the file system. Spares of this drive do not
   * count, because other drives cannot use them.
   */
  private long otherDrivesBytes() {
    long others = Math.max(0, drivesOnFileSystem.getAsInt() - 1);
    return others * Need.NEW_DATA.segmentsLeft * limits.segmentBytes();
  }

  /** Adds the only spare, if there was space for it as of the last check. */
  private boolean addSpare() throws IOException {
    if (freeBytes < limits.segmentBytes()) {
      return false;
    }
    String name = SPARE_PREFIX + Long.toHexString(++lastSpare);
    try {
      spares.add(new Spare(name, makeSpare(name)));
    } catch (TooManyOpenFilesException e) {
      throw e; // there may be space
    } catch (IOException e) {
      LOG.warn("{}: no space for another segment: {}", files, e.toString());
      return false;
    }
    return true;
  }

  /** Makes a file and returns how many of its bytes are written: all, or none. */
  private int makeSpare(String name) throws IOException {
    if (files.allocate(name, limits.segmentBytes())) {
      return 0;
    }
    files.create(name, limits.segmentBytes()).close();
    meters.filledWithZeros(limits.segmentBytes());
    return limits.segmentBytes();
  }

  private void recycle(Segment segment) {
    String name = Segment.fileName(segment.id());
    lock.lock();
    try {
      segment.file().close();
      if (spares.size() < sparesMax) {
        String spare = SPARE_PREFIX + Long.toHexString(++lastSpare);
        files.rename(name, spare);
        spares.add(new Spare(spare, segment.writtenBytes()));
      } else {
        files.delete(name);
      }
      files.syncDirectory();
      onDrive.remove(segment.id());
      movedFrom.remove(segment.id());
      updateFreeSpace();
    } catch (IOException e) {
      LOG.warn(
          "{}: segment {} could not be freed and stays until the next start: {}",
          files,
          segment.id(),
          e.toString());
    } finally {
      lock.unlock();
    }
  }
}
