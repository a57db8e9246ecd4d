package dev.ashlar.storage.drive.scrub;

import dev.ashlar.storage.io.CheckedFile;
import dev.ashlar.storage.io.RawFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The progress of the scrub, in 80 bytes. If they are lost, the scrub starts anew.
 *
 * <pre>
 * magic 4 | version 2 | flags 2 | started 8 | finished 8 | next segment 8 | last segment 8
 *     | segments 8 | verified bytes 8 | damaged blocks 8 | unreadable directories 8 | 0 4 | crc32c 4
 * </pre>
 *
 * @param isRunning whether a pass is running
 * @param isExtended whether the pass has reached its end once and continues with newer segments
 * @param startedMs start of the pass; 0: never
 * @param finishedMs end of the last complete pass; 0: never
 * @param nextSegment lower bound of the next segment to read
 * @param lastSegment last segment of the pass
 * @param segments segments read in the pass
 */
public record ScrubState(
    boolean isRunning,
    boolean isExtended,
    long startedMs,
    long finishedMs,
    long nextSegment,
    long lastSegment,
    long segments,
    long verifiedBytes,
    long damagedBlocks,
    long unreadableDirectories) {
  private static final Logger LOG = LoggerFactory.getLogger(ScrubState.class);
  public static final String FILE = "scrub-state";
  public static final ScrubState NEVER = new ScrubState(false, false, 0, 0, 0, 0, 0, 0, 0, 0);
  public static final int BYTES = 80;
  private static final CheckedFile FORMAT = new CheckedFile(FILE, 0x4153_4843, (short) 1, BYTES);
  private static final int RUNNING = 1;
  private static final int EXTENDED = 2;

  /** The stored state; {@link #NEVER} if there is none or it is damaged. */
  static ScrubState read(RawFiles files) {
    try {
      ByteBuffer content = FORMAT.read(files);
      return content == null ? NEVER : decode(content);
    } catch (IOException e) {
      LOG.warn("{} is unreadable, so the scrub starts anew: {}", FILE, e.toString());
      return NEVER;
    }
  }

  /** Durably replaces the stored state. */
  void write(RawFiles files) throws IOException {
    FORMAT.write(files, encode());
  }

  ScrubState begin(long nowMs, long newLastSegment) {
    return new ScrubState(true, false, nowMs, finishedMs, 0, newLastSegment, 0, 0, 0, 0);
  }

  /** Extends the pass once to segments that were added since, also by moves. */
  ScrubState extend(long newLastSegment) {
    return with(true, true, finishedMs, nextSegment, newLastSegment);
  }

  ScrubState finish(long nowMs) {
    return with(false, isExtended, nowMs, nextSegment, lastSegment);
  }

  ScrubState skip(long segment) {
    return with(true, isExtended, finishedMs, segment + 1, lastSegment);
  }

  private ScrubState with(boolean running, boolean extended, long finished, long next, long last) {
    return new ScrubState(
        running,
        extended,
        startedMs,
        finished,
        next,
        last,
        segments,
        verifiedBytes,
        damagedBlocks,
        unreadableDirectories);
  }

  ScrubState advance(long segment, SegmentVerifier.Found found) {
    return new ScrubState(
        true,
        isExtended,
        startedMs,
        finishedMs,
        segment + 1,
        lastSegment,
        segments + 1,
        verifiedBytes + found.verifiedBytes(),
        damagedBlocks + found.damagedBlocks(),
        unreadableDirectories + found.unreadableDirectories());
  }

  public ByteBuffer encode() {
    int flags = (isRunning ? RUNNING : 0) | (isExtended ? EXTENDED : 0);
    ByteBuffer content = FORMAT.content().putShort((short) flags);
    content.putLong(startedMs).putLong(finishedMs).putLong(nextSegment).putLong(lastSegment);
    content.putLong(segments).putLong(verifiedBytes).putLong(damagedBlocks);
    return FORMAT.seal(content.putLong(unreadableDirectories));
  }

  public static ScrubState decode(ByteBuffer content) {
    if (!FORMAT.isIntact(content)) {
      return NEVER;
    }
    short flags = content.getShort(6);
    return new ScrubState(
        (flags & RUNNING) != 0,
        (flags & EXTENDED) != 0,
        content.getLong(8),
        content.getLong(16),
        content.getLong(24),
        content.getLong(32),
        content.getLong(40),
        content.getLong(48),
        content.getLong(56),
        content.getLong(64));
  }
}
