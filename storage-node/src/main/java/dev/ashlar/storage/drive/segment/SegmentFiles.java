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
 * freed segment becomes a spare, which is later renamed to a new segment.
 */
public final class SegmentFiles implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(SegmentFiles.class);
  private static final String SPARE_PREFIX = "spare-";
  private static final int SPARES_MAX = 2;

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

  private final ReentrantLock lock = new ReentrantLock();
  private final ArrayDeque<String> spares = new ArrayDeque<>();
  private long lastSpare;
  private long lastId;
  private volatile boolean full;
  private volatile long freeBytes;
  private volatile long newDataFreeBytes;
  private volatile long usedBytes;
  private volatile long usableBytes;

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
    byId.put(id, new Segment(id, files.open(name), use));
    onDrive.add(id);
    if (use.wasMovedFrom()) {
      movedFrom.add(id);
    }
  }

  private void openSpare(String name) throws IOException {
    long size = files.size(name);
    if (size == limits.segmentBytes() && spares.size() < SPARES_MAX) {
      spares.add(name);
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
      makeOf(spares.element(), name);
      spares.remove();
      Segment segment = new Segment(id, files.open(name), SegmentUsage.NONE);
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
   * Prepares the next segment in advance. The drive is no longer full once there is space for it or
   * in the active segment.
   */
  public void prepare(int activeRoomBytes) throws IOException {
    lock.lock();
    try {
      boolean hasRoom = hasRoomFor(Need.NEW_DATA);
      if (hasRoom && spares.isEmpty()) {
        hasRoom = addSpare();
      }
      updateFreeSpace();
      boolean hasActiveRoom = activeRoomBytes >= limits.batchBytesMax() && mayFill(Need.NEW_DATA);
      if (hasRoom || hasActiveRoom) {
        full = false;
      }
    } finally {
      lock.unlock();
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

  /** Size of all segments as of the last check: callers must not wait for a hanging drive. */
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
    usedBytes = (long) (onDrive.size() + spares.size()) * limits.segmentBytes();
    usableBytes = files.usableBytes();
    long spareBytes = (long) spares.size() * limits.segmentBytes();
    long roomBytes = limits.capacityBytesMax() - usedBytes;
    freeBytes = spareBytes + Math.min(roomBytes, usableBytes);
    newDataFreeBytes = spareBytes + Math.min(roomBytes, usableBytes - otherDrivesBytes());
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
      files.create(name, limits.segmentBytes()).close();
      meters.filledWithZeros(limits.segmentBytes());
    } catch (TooManyOpenFilesException e) {
      throw e; // there may be space
    } catch (IOException e) {
      LOG.warn("{}: no space for another segment: {}", files, e.toString());
      return false;
    }
    spares.add(name);
    return true;
  }

  private void recycle(Segment segment) {
    String name = Segment.fileName(segment.id());
    lock.lock();
    try {
      segment.file().close();
      if (spares.size() < SPARES_MAX) {
        String spare = SPARE_PREFIX + Long.toHexString(++lastSpare);
        files.rename(name, spare);
        spares.add(spare);
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
