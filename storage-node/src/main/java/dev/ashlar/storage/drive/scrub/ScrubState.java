package dev.ashlar.storage.drive.scrub;

import dev.ashlar.storage.drive.segment.Checksum;
import dev.ashlar.storage.drive.segment.SegmentFormat;
import dev.ashlar.storage.io.RawFile;
import dev.ashlar.storage.io.RawFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The progress of the scrub: 80 bytes in a file of their own, overwritten in place. If they are
 * lost, the scrub starts anew.
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
  private static final int MAGIC = 0x41534843;
  private static final short VERSION = 1;
  private static final int RUNNING = 1;
  private static final int EXTENDED = 2;
  public static final int BYTES = 80;
  private static final int CRC_AT = BYTES - Integer.BYTES;

  /** The stored state; {@link #NEVER} if there is none or it is damaged. */
  static ScrubState read(RawFiles files) {
    try {
      return readFile(files);
    } catch (IOException e) {
      LOG.warn("{} is unreadable, so the scrub starts anew: {}", FILE, e.toString());
      return NEVER;
    }
  }

  private static ScrubState readFile(RawFiles files) throws IOException {
    if (!files.list().contains(FILE)) {
      return NEVER;
    }
    ByteBuffer bytes = ByteBuffer.allocateDirect(BYTES);
    try (RawFile file = files.open(FILE)) {
      if (file.size() < BYTES) {
        return NEVER;
      }
      file.read(bytes, 0);
    }
    return decode(bytes);
  }

  /** Durably replaces the stored state. */
  void write(RawFiles files) throws IOException {
    if (!files.list().contains(FILE)) {
      files.create(FILE, SegmentFormat.BLOCK).close();
      files.syncDirectory();
    }
    try (RawFile file = files.open(FILE)) {
      file.write(List.of(encode()), 0);
      file.sync();
    }
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
    ByteBuffer bytes = ByteBuffer.allocateDirect(BYTES);
    int flags = (isRunning ? RUNNING : 0) | (isExtended ? EXTENDED : 0);
    bytes.putInt(MAGIC).putShort(VERSION).putShort((short) flags);
    bytes.putLong(startedMs).putLong(finishedMs).putLong(nextSegment).putLong(lastSegment);
    bytes.putLong(segments).putLong(verifiedBytes).putLong(damagedBlocks);
    bytes.putLong(unreadableDirectories);
    int crc = new Checksum().of(bytes, 0, CRC_AT);
    return bytes.clear().putInt(CRC_AT, crc);
  }

  public static ScrubState decode(ByteBuffer bytes) {
    int crc = new Checksum().of(bytes, 0, CRC_AT);
    bytes.clear();
    if (bytes.getInt(0) != MAGIC || bytes.getShort(4) != VERSION || crc != bytes.getInt(CRC_AT)) {
      return NEVER;
    }
    short flags = bytes.getShort(6);
    return new ScrubState(
        (flags & RUNNING) != 0,
        (flags & EXTENDED) != 0,
        bytes.getLong(8),
        bytes.getLong(16),
        bytes.getLong(24),
        bytes.getLong(32),
        bytes.getLong(40),
        bytes.getLong(48),
        bytes.getLong(56),
        bytes.getLong(64));
  }
}
