package dev.ashlar.storage.drive.scrub;

import dev.ashlar.storage.drive.compact.UnreadableDirectories;
import dev.ashlar.storage.drive.log.SegmentLog;
import dev.ashlar.storage.drive.segment.Segment;
import dev.ashlar.storage.drive.segment.SegmentFiles;
import dev.ashlar.storage.io.FileNotOpenedException;
import dev.ashlar.storage.io.RawFiles;
import dev.ashlar.storage.io.TooManyOpenFilesException;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Passes through all segments in their order, of which each is remembered over restarts. What
 * compaction moves goes to the log's end, which a pass goes on to once; so everything that was
 * there when it began is read, except what is moved while it is there. Changed by one thread.
 */
public final class ScrubPass {
  private static final Logger LOG = LoggerFactory.getLogger(ScrubPass.class);

  private final RawFiles files;
  private final SegmentFiles segments;
  private final SegmentLog log;
  private final Function<DamageListener, SegmentVerifier> reading;
  private final UnreadableDirectories lost;
  private final Clock clock;
  private volatile ScrubState state;

  /** The segment that could not be opened when that was last tried; 0: none. */
  private long unopened;

  /**
   * @param reading makes what reads a segment
   * @param lost takes what has to be moved, because no directory tells of it
   */
  public ScrubPass(
      RawFiles files,
      SegmentFiles segments,
      SegmentLog log,
      Function<DamageListener, SegmentVerifier> reading,
      UnreadableDirectories lost,
      Clock clock) {
    this.files = files;
    this.segments = segments;
    this.log = log;
    this.reading = reading;
    this.lost = lost;
    this.clock = clock;
    this.state = ScrubState.read(files);
  }

  public ScrubState state() {
    return state;
  }

  /** Whether a pass is under way. */
  public boolean isRunning() {
    return state.isRunning();
  }

  /** How long ago the pass began that was the last to begin; null: none ever has. */
  @Nullable Duration sinceBegin() {
    long started = state.startedMs();
    return started == 0 ? null : Duration.ofMillis(clock.millis() - started);
  }

  /** Begins a pass. */
  public void begin() {
    keep(state.begin(clock.millis(), log.activeSegment()));
  }

  /**
   * Reads the next segment of the pass, or ends it.
   *
   * @return false if it was told to end, or the pass has ended
   * @throws FileNotOpenedException when the segment cannot be opened, which says nothing of what is
   *     in it; if it cannot the next time either, the pass leaves it out
   */
  public boolean readNext(DamageListener listener) throws IOException {
    ScrubState now = state;
    Segment next = nextOf(now);
    if (next == null && !now.isExtended() && log.activeSegment() > now.lastSegment()) {
      now = now.extend(log.activeSegment());
      next = nextOf(now);
    }
    if (next == null) {
      keep(now.finish(clock.millis()));
      LOG.info(
          "scrubbed {} bytes in {} segments, of which {} blocks are damaged",
          now.verifiedBytes(),
          now.segments(),
          now.damagedBlocks());
      return false;
    }
    SegmentVerifier.@Nullable Found found;
    try {
      found = reading.apply(listener).verify(next.id());
    } catch (FileNotOpenedException e) {
      leaveOut(now, next, e);
      return true;
    }
    if (found == null) {
      return false;
    }
    if (found.unreadableDirectories() > 0) {
      lost.add(next.id(), found.undirected());
    }
    keep(now.advance(next.id(), found));
    return true;
  }

  /** Others are not to wait for one that never can be opened. */
  private void leaveOut(ScrubState now, Segment segment, FileNotOpenedException e)
      throws FileNotOpenedException {
    if (e instanceof TooManyOpenFilesException || unopened != segment.id()) {
      unopened = segment.id();
      throw e;
    }
    LOG.warn(
        "{} is left out of this pass: {}. See who owns the file and what rights it has",
        segment,
        e.getMessage());
    keep(now.skip(segment.id()));
  }

  private @Nullable Segment nextOf(ScrubState now) {
    return segments.after(now.nextSegment() - 1).stream()
        .filter(segment -> segment.id() <= now.lastSegment())
        .findFirst()
        .orElse(null);
  }

  /** Segments that the pass has before it. */
  long segmentsLeft() {
    ScrubState now = state;
    return now.isRunning()
        ? segments.after(now.nextSegment() - 1).stream()
            .filter(segment -> segment.id() <= now.lastSegment())
            .count()
        : 0;
  }

  /** Live bytes of these, with their records. */
  long bytesLeft() {
    return segments.after(state.nextSegment() - 1).stream()
        .mapToLong(segment -> segment.use().liveBytes())
        .sum();
  }

  /** The pass goes on also where the file cannot be written: a restart then repeats some of it. */
  private void keep(ScrubState changed) {
    state = changed;
    try {
      changed.write(files);
    } catch (IOException e) {
      LOG.warn(
          "{} cannot be written, so the scrub would repeat segments after a restart: {}",
          ScrubState.FILE,
          e.toString());
    }
  }
}
