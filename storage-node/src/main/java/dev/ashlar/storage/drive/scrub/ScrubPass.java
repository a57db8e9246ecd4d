package dev.ashlar.storage.drive.scrub;

import dev.ashlar.storage.drive.compact.UnreadableDirectories;
import dev.ashlar.storage.drive.log.OpenDrive;
import dev.ashlar.storage.drive.log.SegmentLog;
import dev.ashlar.storage.drive.segment.Segment;
import dev.ashlar.storage.drive.segment.SegmentFiles;
import dev.ashlar.storage.io.FileNotOpenedException;
import dev.ashlar.storage.io.RawFiles;
import dev.ashlar.storage.io.TooManyOpenFilesException;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Scrubs all segments in order and records its progress so that it survives a restart. Compaction
 * moves records to the end of the log, to which a pass is extended once. Hence everything present
 * at the start is read, except what is moved during the extension. Changed by one thread.
 */
public final class ScrubPass {
  private static final Logger LOG = LoggerFactory.getLogger(ScrubPass.class);

  private final UUID drive;
  private final RawFiles files;
  private final SegmentFiles segments;
  private final SegmentLog log;
  private final Function<DamageListener, SegmentVerifier> reading;
  private final UnreadableDirectories lost;
  private final Clock clock;
  private volatile ScrubState state;

  /** The segment that could not be opened at the last attempt; 0: none. */
  private long unopened;

  /**
   * @param reading creates the verifier of a segment
   * @param lost receives pieces that have to be moved because no directory lists them
   */
  public ScrubPass(
      OpenDrive drive,
      SegmentLog log,
      Function<DamageListener, SegmentVerifier> reading,
      UnreadableDirectories lost,
      Clock clock) {
    this.drive = drive.id();
    files = drive.files();
    segments = drive.segments();
    this.log = log;
    this.reading = reading;
    this.lost = lost;
    this.clock = clock;
    this.state = ScrubState.read(files);
  }

  public ScrubState state() {
    return state;
  }

  public boolean isRunning() {
    return state.isRunning();
  }

  /** Time since the last pass began; null: there was none. */
  @Nullable Duration sinceBegin() {
    long started = state.startedMs();
    return started == 0 ? null : Duration.ofMillis(clock.millis() - started);
  }

  public void begin() {
    keep(state.begin(clock.millis(), log.activeSegment()));
  }

  /**
   * Verifies the next segment of the pass, or ends the pass.
   *
   * @return false if it was stopped or the pass has ended
   * @throws FileNotOpenedException if the segment cannot be opened, which says nothing about its
   *     content; the pass skips it if the next attempt fails as well
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
          "Drive {}: scrubbed {} bytes in {} segments and found {} damaged blocks.",
          drive,
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

  /** Skips a segment that can never be opened, so that others are read. */
  private void leaveOut(ScrubState now, Segment segment, FileNotOpenedException e)
      throws FileNotOpenedException {
    if (e instanceof TooManyOpenFilesException || unopened != segment.id()) {
      unopened = segment.id();
      throw e;
    }
    LOG.warn(
        "Drive {}: skipping {} in this scrub: {}. Check the owner and the permissions of the file.",
        drive,
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

  /** Segments left in the pass. */
  long segmentsLeft() {
    ScrubState now = state;
    return now.isRunning()
        ? segments.after(now.nextSegment() - 1).stream()
            .filter(segment -> segment.id() <= now.lastSegment())
            .count()
        : 0;
  }

  /** Live bytes of these segments, including records. */
  long bytesLeft() {
    return segments.after(state.nextSegment() - 1).stream()
        .mapToLong(segment -> segment.use().liveBytes())
        .sum();
  }

  /**
   * Stores the progress. The pass continues if the file cannot be written; a restart then repeats
   * some segments.
   */
  private void keep(ScrubState changed) {
    state = changed;
    try {
      changed.write(files);
    } catch (IOException e) {
      LOG.warn(
          "Drive {}: {} cannot be written, so a restart would repeat segments of the scrub: {}",
          drive,
          ScrubState.FILE,
          e.toString());
    }
  }
}
