package dev.ashlar.storage.drive;

import dev.ashlar.storage.drive.SegmentFormat.BatchHeader;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings the index up to the end of the log. A batch that is not whole and that no later batch
 * follows is the torn tail: it was never acknowledged, since a batch is written only after the one
 * before it was synced. Anything else that is not whole is damage.
 */
final class Recovery {
  private static final Logger LOG = LoggerFactory.getLogger(Recovery.class);

  private final Segments segments;
  private final ShardIndex index;
  private final ChangedShards changed;
  private final BatchScanner scanner;
  private final DamageHandler onDamage;
  private final boolean isRebuild;
  private LogPosition end;
  private long syncedSegment;
  private long batches;
  private boolean atTornTail;

  /** Told of damage before anything that follows it becomes durable in the index. */
  interface DamageHandler {
    void lost(String what) throws IOException;
  }

  Recovery(
      Segments segments,
      ShardIndex index,
      ChangedShards changed,
      BatchScanner scanner,
      DamageHandler onDamage) {
    this.segments = segments;
    this.index = index;
    this.changed = changed;
    this.scanner = scanner;
    this.onDamage = onDamage;
    end = index.position();
    isRebuild = end.isRebuild();
  }

  /** Returns where the log ends. */
  LogPosition run() throws IOException {
    checkSegments();
    while (replayNext() || skipDamage()) {
      batches++;
    }
    if (scanner.sawIoError()) {
      onDamage.lost("a part of the log could not be read");
    }
    cutTail();
    if (isRebuild && end.sequence() > 0) {
      end = end.afterRebuild();
      index.update().commit(end);
    }
    if (batches > 0) {
      LOG.info("replayed {} batches of the log up to {}", batches, end);
    }
    return end;
  }

  private void checkSegments() throws IOException {
    List<Long> gone = new ArrayList<>();
    for (Map.Entry<Long, SegmentUse> known : index.segments().entrySet()) {
      if (segments.get(known.getKey()) == null) {
        gone.add(known.getKey());
        if (known.getValue().liveBytes() > 0) {
          onDamage.lost("segment " + known.getKey() + " with live shards is not there");
        }
      }
    }
    if (!isRebuild && segments.get(end.segment()) == null) {
      onDamage.lost("segment " + end.segment() + ", where the log ended, is not there");
    }
    if (!gone.isEmpty()) {
      ShardIndex.Update update = index.update();
      for (long id : gone) {
        update.forget(id);
      }
      update.commit(end);
    }
  }

  /** Replays the batch that comes next in an undamaged log. */
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
   * In a rebuild the segments between may have been freed long ago: sequences have gaps. Where none
   * was between, a gap is what can no longer be read at the end of the segment before.
   */
  private boolean replayFirstOfNextSegment() throws IOException {
    for (Segment next : segments.after(end.segment())) {
      BatchHeader header = scanner.directoryAt(next, 0);
      if (header != null && header.sequence() > end.sequence()) {
        boolean isNeighbour = next.id() == end.segment() + 1;
        boolean isDamaged = isNeighbour && header.sequence() > end.sequence() + 1;
        return !isDamaged && replay(next, header);
      }
      if (scanner.firstAbove(next, 0, end.sequence()) != null) {
        return false;
      }
    }
    return false;
  }

  private boolean isFollowedInSegment(Segment segment) throws IOException {
    return scanner.firstAbove(segment, end.offset(), end.sequence()) != null;
  }

  /** Goes on behind a gap, if anything lies behind it. */
  private boolean skipDamage() throws IOException {
    if (atTornTail) {
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
    onDamage.lost(
        "batches " + (end.sequence() + 1) + " to " + (header.sequence() - 1) + " of the log");
    moveTo(new LogPosition(header.sequence() - 1, segment.id(), header.offset()));
    index.update().commit(end);
    return replay(segment, header);
  }

  /** False for the torn tail: the directory is whole, a payload is not, and nothing follows. */
  private boolean replay(Segment segment, BatchHeader header) throws IOException {
    if (!scanner.payloadsMatch(segment, header)) {
      if (!isFollowed(segment, header)) {
        atTornTail = true;
        return false;
      }
      LOG.error("a payload of batch {} in segment {} is damaged", header.sequence(), segment.id());
      if (scanner.directoryAt(segment, header.offset()) == null) {
        return false;
      }
    }
    // What was read may not be durable yet: the crash may have come between write and sync.
    if (syncedSegment != segment.id()) {
      segment.file().sync();
      syncedSegment = segment.id();
    }
    IndexChange change = new IndexChange(index, segments, changed);
    Replay replay = new Replay(new RecordEffects(change, segments));
    scanner.forEachRecord(header, replay);
    replay.effects.leaveTraces(replay.marks, segment.id());
    change.addMarks(segment.id(), replay.marks.size());
    moveTo(new LogPosition(header.sequence(), segment.id(), header.offset() + header.bytes()));
    change.commit(end);
    return true;
  }

  private void moveTo(LogPosition reached) {
    end = isRebuild ? reached.duringRebuild() : reached;
  }

  private boolean isFollowed(Segment segment, BatchHeader header) throws IOException {
    int behind = header.offset() + header.bytes();
    if (scanner.firstAbove(segment, behind, header.sequence()) != null) {
      return true;
    }
    Collection<Segment> later = segments.after(segment.id());
    for (Segment next : later) {
      if (scanner.firstAbove(next, 0, header.sequence()) != null) {
        return true;
      }
    }
    return false;
  }

  /**
   * Nothing of the torn batch may be met again: the log may go on elsewhere, and then it would look
   * like damage. A crash may also have left segments without any batch.
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

  /** Puts a batch's records into the index as its writer did. */
  private static final class Replay implements BatchScanner.RecordVisitor {
    private final RecordEffects effects;
    private final List<Mark> marks = new ArrayList<>();

    Replay(RecordEffects effects) {
      this.effects = effects;
    }

    @Override
    public void piece(Piece piece) throws IOException {
      effects.replay(piece);
    }

    @Override
    public void mark(Mark mark) throws IOException {
      marks.add(mark);
      effects.replay(mark);
    }
  }
}
