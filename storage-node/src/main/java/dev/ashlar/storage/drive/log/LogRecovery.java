package dev.ashlar.storage.drive.log;

import dev.ashlar.storage.drive.index.ShardIndex;
import dev.ashlar.storage.drive.segment.BatchScanner;
import dev.ashlar.storage.drive.segment.ChangeHistory;
import dev.ashlar.storage.drive.segment.LogPosition;
import dev.ashlar.storage.drive.segment.MarkRecord;
import dev.ashlar.storage.drive.segment.Segment;
import dev.ashlar.storage.drive.segment.SegmentFiles;
import dev.ashlar.storage.drive.segment.SegmentFormat;
import dev.ashlar.storage.drive.segment.SegmentFormat.BatchHeader;
import dev.ashlar.storage.drive.segment.SegmentUsage;
import dev.ashlar.storage.drive.segment.ShardPiece;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Replays the log to the index. A batch is written only after the one before it was synced, so all
 * batches but the last are durable and count as damaged if they are incomplete. The last one is
 * made durable here if it is intact. Otherwise it is the torn tail, which was never acknowledged:
 * an idle or closing log writes an empty batch after the last one.
 */
public final class LogRecovery {
  private static final Logger LOG = LoggerFactory.getLogger(LogRecovery.class);

  private final OpenDrive drive;
  private final SegmentFiles segments;
  private final ShardIndex index;
  private final BatchScanner scanner;
  private final DamageHandler onDamage;
  private final boolean isRebuild;
  private final LostChanges lostChanges = new LostChanges();
  private LogPosition end;

  /** The last replayed batch. */
  private @Nullable BatchHeader replayed;

  private long batches;

  /** Whether the last batch was found: it was replayed or is the torn tail. */
  private boolean isAtEnd;

  private boolean sawIoError;

  public interface DamageHandler {
    /** Called for damage before later records become durable in the index. */
    void lost(String what) throws IOException;

    /** Fails if the drive cannot be written. */
    void probe() throws IOException;
  }

  private LogRecovery(OpenDrive drive, BatchScanner scanner, DamageHandler onDamage) {
    this.drive = drive;
    segments = drive.segments();
    index = drive.index();
    this.scanner = scanner;
    this.onDamage = onDamage;
    end = index.position();
    isRebuild = end.isRebuild();
  }

  /**
   * The state from which the log continues.
   *
   * @param history known changes of the batches before the end
   * @param isConfirmed whether the last batch is empty, so that nothing can be lost with it
   * @param isSealed whether the last batch ends its segment
   * @param lost the damage that was found
   */
  public record Recovered(
      LogPosition end,
      ChangeHistory history,
      boolean isConfirmed,
      boolean isSealed,
      LostChanges lost) {}

  public static Recovered run(OpenDrive drive, DamageHandler onDamage) throws IOException {
    try (BatchScanner scanner = drive.newScanner()) {
      return new LogRecovery(drive, scanner, onDamage).run();
    }
  }

  private Recovered run() throws IOException {
    checkSegments();
    while (!isAtEnd && (replayNext() || skipDamage())) {
      batches++;
      if (!isAtEnd) {
        sawIoError |= scanner.takeIoError();
      }
    }
    boolean isTailUnreadable = scanner.takeIoError();
    if (isTailUnreadable) {
      lostChanges.addUnfolded();
    }
    if (sawIoError || isTailUnreadable) {
      confirmUnread();
      if (isRebuild) {
        lostChanges.addAll(); // freed segments hide how much is missing
      }
      onDamage.lost("a part of the log is unreadable");
    }
    cutTail();
    if (isRebuild && end.sequence() > 0) {
      end = end.afterRebuild();
      index.update().commit(end);
    }
    if (batches > 0) {
      LOG.info("Drive {}: replayed {} batches of the log up to {}.", drive.id(), batches, end);
    }
    return recovered();
  }

  /**
   * Confirms that unreadable data is lost and may be overwritten: the whole drive must not be
   * failing temporarily.
   */
  private void confirmUnread() throws IOException {
    onDamage.probe();
    scanner.confirmUnread();
  }

  private Recovered recovered() throws IOException {
    ChangeHistory history = new ChangeHistory();
    boolean isConfirmed = end.sequence() == 0;
    boolean isSealed = false;
    Segment segment = segments.get(end.segment());
    BatchHeader last = segment == null ? null : scanner.directoryBefore(segment, end.offset());
    if (last != null && last.sequence() == end.sequence()) {
      ChangeHistory.Stored stored = scanner.history(last);
      ChangeHistory.Changes changes = new ChangeHistory.Changes();
      scanner.forEachRecord(last, changes);
      history.restore(stored);
      history.add(changes);
      isConfirmed = last.records() == (stored.batches() > 0 ? 1 : 0);
      isSealed = last.isSeal();
    }
    return new Recovered(end, history, isConfirmed, isSealed, lostChanges);
  }

  private void checkSegments() throws IOException {
    List<Long> gone = new ArrayList<>();
    for (Map.Entry<Long, SegmentUsage> known : index.segments().entrySet()) {
      if (segments.get(known.getKey()) == null) {
        gone.add(known.getKey());
        if (known.getValue().liveBytes() > 0) {
          lostChanges.addSegment(known.getKey());
          onDamage.lost("segment " + known.getKey() + " with live shards is missing");
        }
      }
    }
    if (!isRebuild && segments.get(end.segment()) == null) {
      lostChanges.addSegment(end.segment());
      lostChanges.addUnfolded();
      onDamage.lost("segment " + end.segment() + ", the last of the log, is missing");
    }
    if (!gone.isEmpty()) {
      ShardIndex.Update update = index.update();
      for (long id : gone) {
        update.forget(id);
      }
      update.commit(end);
    }
  }

  /** Replays the next batch of an undamaged log. */
  private boolean replayNext() throws IOException {
    Segment segment = segments.get(end.segment());
    if (segment != null) {
      BatchHeader header = scanner.directoryAt(segment, end.offset());
      if (header != null && header.sequence() == end.sequence() + 1) {
        return replay(segment, header);
      }
      if (isRebuild && isFollowedInSegment(segment)) {
        return false;
      }
    }
    return isRebuild ? replayFirstOfNextSegment() : replayExpectedOfLaterSegment();
  }

  private boolean replayExpectedOfLaterSegment() throws IOException {
    for (Segment next : segments.after(end.segment())) {
      BatchHeader header = scanner.directoryAt(next, 0);
      if (header != null && header.sequence() == end.sequence() + 1) {
        return replay(next, header);
      }
    }
    return false;
  }

  /**
   * Continues a rebuild in the next segment. Segments in between may have been freed, so sequences
   * may have gaps. If there is no segment in between, or the one before is not sealed, the gap is
   * damage.
   */
  private boolean replayFirstOfNextSegment() throws IOException {
    boolean isDamaged = endsInDamage();
    for (Segment next : segments.after(end.segment())) {
      BatchHeader header = scanner.directoryAt(next, 0);
      if (header != null && header.sequence() > end.sequence()) {
        boolean isNext = header.sequence() == end.sequence() + 1;
        boolean isNeighbour = next.id() == end.segment() + 1;
        return (isNext || !(isDamaged || isNeighbour)) && replay(next, header);
      }
      if (scanner.firstAbove(next, 0, end.sequence()) != null) {
        return false;
      }
      isDamaged = true; // only the last segment of the log may be empty
    }
    return false;
  }

  /**
   * Whether the end of the segment may be, or was, a batch; a torn batch would have been erased.
   */
  private boolean endsInDamage() throws IOException {
    Segment segment = segments.get(end.segment());
    return segment != null && (lacksSeal(segment) || scanner.mayBeginAt(segment, end.offset()));
  }

  /** Whether the log cannot have left the segment after the last known batch. */
  private boolean lacksSeal(Segment segment) throws IOException {
    if (end.offset() == segments.segmentBytes()) {
      return false;
    }
    BatchHeader known = replayed;
    if (known == null || known.sequence() != end.sequence()) {
      known = scanner.directoryBefore(segment, end.offset());
    }
    return known != null && known.sequence() == end.sequence() && known.lacksSeal();
  }

  private boolean isFollowedInSegment(Segment segment) throws IOException {
    return scanner.firstAbove(segment, end.offset(), end.sequence()) != null;
  }

  /** Continues after a gap if there are later batches. */
  private boolean skipDamage() throws IOException {
    if (isAtEnd) {
      return false;
    }
    Segment segment = segments.get(end.segment());
    @Nullable BatchHeader header =
        segment == null ? null : scanner.firstAbove(segment, end.offset(), end.sequence());
    if (header == null) {
      for (Segment later : segments.after(end.segment())) {
        header = scanner.firstAbove(later, 0, end.sequence());
        if (header != null) {
          segment = later;
          break;
        }
      }
    }
    if (segment == null || header == null) {
      return false;
    }
    if (scanner.takeIoError()) {
      sawIoError = true;
      confirmUnread();
      scanner.takeIoError();
      load(segment, header);
    }
    ChangeHistory.Stored history = scanner.history(header);
    lostChanges.addBatches(lostBatches(segment, header), history);
    onDamage.lost(
        "batches " + (end.sequence() + 1) + " to " + (header.sequence() - 1) + " of the log");
    moveTo(new LogPosition(header.sequence() - 1, segment.id(), header.offset()));
    index.update().commit(end);
    return replay(segment, header);
  }

  /**
   * How many batches before this one are lost. In a rebuild, batches of freed segments are missing
   * as well; a lost batch in the same segment takes at least one block.
   */
  private long lostBatches(Segment segment, BatchHeader header) throws IOException {
    long missing = header.sequence() - end.sequence() - 1;
    boolean isNext = segments.after(end.segment()).stream().findFirst().orElse(null) == segment;
    boolean isBehindFreed =
        isRebuild && isNext && segment.id() > end.segment() + 1 && !endsInDamage();
    return isBehindFreed ? Math.min(missing, header.offset() / SegmentFormat.BLOCK) : missing;
  }

  /**
   * Replays a batch; false for the torn tail, which has an intact directory, a damaged payload and
   * no successor.
   */
  private boolean replay(Segment segment, BatchHeader header) throws IOException {
    load(segment, header);
    IndexChange change = new IndexChange(drive);
    RecordApplier effects = new RecordApplier(change, segments);
    List<MarkRecord> marks = new ArrayList<>();
    scanner.forEachRecord(
        header,
        new BatchScanner.RecordVisitor() {
          @Override
          public void piece(ShardPiece piece) throws IOException {
            effects.replay(piece);
          }

          @Override
          public void mark(MarkRecord mark) throws IOException {
            marks.add(mark);
            effects.replay(mark);
          }
        });
    effects.place(marks, segment.id());
    isAtEnd = !isFollowed(segment, header);
    if (isAtEnd) {
      // The process may have ended between write and sync, or because the sync failed.
      if (!scanner.payloadsMatch(segment, header)) {
        return false;
      }
      scanner.rewrite(segment, header);
    }
    moveTo(new LogPosition(header.sequence(), segment.id(), header.offset() + header.bytes()));
    change.commit(end);
    replayed = header;
    return true;
  }

  private void load(Segment segment, BatchHeader header) throws IOException {
    if (scanner.directoryAt(segment, header.offset()) == null) {
      throw new IOException(
          "batch "
              + header.sequence()
              + " in "
              + segment
              + " is readable only intermittently"
              + BatchScanner.REMEDY);
    }
  }

  private void moveTo(LogPosition reached) {
    end = isRebuild ? reached.duringRebuild() : reached;
  }

  /**
   * Whether there is a later batch; the expected place is checked first, at the cost of one read.
   */
  private boolean isFollowed(Segment segment, BatchHeader header) throws IOException {
    int behind = header.offset() + header.bytes();
    if (isAbove(scanner.directoryAt(segment, behind), header)) {
      return true;
    }
    Collection<Segment> later = segments.after(segment.id());
    for (Segment next : later) {
      if (isAbove(scanner.directoryAt(next, 0), header)) {
        return true;
      }
    }
    if (scanner.firstAbove(segment, behind, header.sequence()) != null) {
      return true;
    }
    for (Segment next : later) {
      if (scanner.firstAbove(next, 0, header.sequence()) != null) {
        return true;
      }
    }
    return false;
  }

  private static boolean isAbove(@Nullable BatchHeader found, BatchHeader header) {
    return found != null && found.sequence() > header.sequence();
  }

  /**
   * Erases the torn batch, which would look like damage if the log continued elsewhere. Also
   * removes empty segments left by a crash.
   */
  private void cutTail() throws IOException {
    Segment last = segments.get(end.segment());
    if (last != null) {
      scanner.eraseHeader(last, end.offset());
    }
    for (Segment empty : List.copyOf(segments.after(end.segment()))) {
      scanner.eraseHeader(empty, 0);
      segments.retire(empty);
    }
  }
}
