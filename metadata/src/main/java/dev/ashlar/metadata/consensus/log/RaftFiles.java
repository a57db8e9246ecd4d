package dev.ashlar.metadata.consensus.log;

import dev.ashlar.metadata.consensus.file.DurableFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.CRC32C;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;

/**
 * Checks and repairs a peer's directory before Ratis opens it. Ratis mistakes an empty directory
 * for that of a new peer; a torn write for damage, because it writes into preallocated zeros and
 * does not find the end of the file; and a log that has lost its end for one that ends there. It
 * detects all other damage itself.
 *
 * <p>A log segment: "RaftLog1", then entries (length as a varint, bytes, CRC32C 4 of both,
 * big-endian), then zeros.
 */
public final class RaftFiles {
  private static final byte[] HEADER = "RaftLog1".getBytes(StandardCharsets.UTF_8);
  private static final Pattern CHECKPOINT = Pattern.compile("checkpoint-\\d{1,18}-(\\d{1,18})");
  private static final String CHECKPOINTS = "sm";
  private static final String META = "raft-meta";

  static final int HEADER_BYTES = 8;
  private static final int CRC_BYTES = 4;
  private static final int VARINT_MAX_BYTES = 5;

  /** The field numbers of term and index, with which every entry but the very first begins. */
  private static final int TERM_TAG = 1 << 3;

  private static final int INDEX_TAG = 2 << 3;

  private RaftFiles() {}

  /** The condition in which a log was found. */
  public enum End {
    WHOLE,
    /** A torn write was cut off. */
    CUT,
    /** Entries that the peer had acknowledged are missing. */
    SHORT,
    /** Such entries are missing, and an operator has given them up. */
    CONFIRMED
  }

  /**
   * The result of a check.
   *
   * @param account a description of what is missing
   * @param last the last entry; -1: there is none
   */
  public record Found(End end, String account, long last) {}

  /** The log could not be rewritten at the start; the existing log is not known to be damaged. */
  public static final class LogNotWrittenException extends IOException {
    private static final long serialVersionUID = 1;

    LogNotWrittenException(Path segment, IOException why) {
      super(
          String.format(
              "%s cannot be made durable: %s. Free space on its drive, or replace the drive, "
                  + "and restart. Do not empty the folder because of this",
              segment, why));
      addSuppressed(why);
    }
  }

  /** Records durably that the end of a log is about to be cut off: later nothing else shows it. */
  @FunctionalInterface
  public interface CutRecord {
    void write() throws IOException;
  }

  /**
   * Removes a torn tail and incompletely received checkpoints, makes the rest of the log durable
   * and restores the vote that the peer has given.
   *
   * @param folder of the peer
   * @param storage in it, the directory of the peer's Raft group
   * @throws IOException when the peer's vote is lost
   */
  public static Found mend(Path folder, Path storage, CutRecord cut) throws IOException {
    Path current = storage.resolve("current");
    if (!Files.exists(current.resolve(META))) {
      throw new NoSuchFileException(current.resolve(META).toString(), null, "is missing");
    }
    Vote.restore(folder, current);
    finishInstalled(storage);
    removeReceived(storage);
    boolean isCut = rewriteOpen(current, cut);
    long last = Math.max(lastOfCheckpoints(storage), lastOfLog(current));
    LogMark mark = new LogMark(folder);
    if (mark.isConfirmed(last)) {
      return new Found(End.CONFIRMED, "", last);
    }
    Optional<String> missing = mark.missing(last);
    if (missing.isPresent()) {
      return new Found(End.SHORT, missing.get(), last);
    }
    return new Found(isCut ? End.CUT : End.WHOLE, "", last);
  }

  /**
   * Whether the folder of a peer that is to be rebuilt has no files of Ratis yet. Removes the
   * remains of a crash while Ratis created them.
   *
   * @param folder of the peer
   * @param storage below it, the directory of the peer's Raft group
   * @throws IOException when a directory cannot be listed, so that the answer is unknown
   */
  public static boolean isNew(Path folder, Path storage) throws IOException {
    List<String> log = namesBelow(folder, storage.resolve("current"));
    List<String> checkpoints = namesBelow(folder, storage.resolve(CHECKPOINTS));
    boolean isNew =
        !log.contains(META)
            && log.stream().noneMatch(LogSegments::isSegment)
            && checkpoints.stream().noneMatch(name -> CHECKPOINT.matcher(name).matches());
    if (isNew) {
      DurableFiles.deleteTree(storage);
    }
    return isNew;
  }

  /** The names in a directory; none if the listings of its parents show that it does not exist. */
  private static List<String> namesBelow(Path root, Path directory) throws IOException {
    Path listed = root;
    for (Path name : root.relativize(directory)) {
      if (!names(listed).contains(name.toString())) {
        return List.of();
      }
      listed = listed.resolve(name);
    }
    return names(listed);
  }

  private static List<String> names(Path directory) throws IOException {
    return DurableFiles.list(directory).stream()
        .map(entry -> entry.getFileName().toString())
        .toList();
  }

  /** Removes incompletely received checkpoints, which Ratis never deletes. */
  private static void removeReceived(Path storage) throws IOException {
    for (Path received : DurableFiles.listIfThere(storage.resolve("tmp"))) {
      DurableFiles.deleteTree(received);
    }
  }

  /**
   * Ratis installs received checkpoints in two steps: it renames the directory of the present ones,
   * then that of the new ones. After a crash in between there are none.
   */
  private static void finishInstalled(Path storage) throws IOException {
    Optional<Path> before =
        DurableFiles.list(storage).stream()
            .filter(file -> file.getFileName().toString().startsWith(CHECKPOINTS + ".tmp"))
            .max(Comparator.naturalOrder());
    if (before.isPresent() && lastOfCheckpoints(storage) < 0) {
      Path checkpoints = storage.resolve(CHECKPOINTS);
      DurableFiles.deleteTree(checkpoints); // contains unfinished checkpoints at most
      Files.move(before.get(), checkpoints, StandardCopyOption.ATOMIC_MOVE);
      DurableFiles.sync(storage);
    } else if (before.isPresent()) {
      DurableFiles.deleteTree(before.get());
    }
  }

  private static long lastOfCheckpoints(Path storage) throws IOException {
    Path checkpoints = storage.resolve(CHECKPOINTS);
    List<String> names = Files.exists(checkpoints) ? names(checkpoints) : List.of();
    return names.stream()
        .map(CHECKPOINT::matcher)
        .filter(Matcher::matches)
        .mapToLong(name -> Long.parseLong(name.group(1)))
        .max()
        .orElse(-1);
  }

  /** The index of the last whole entry; -1 when there is none. */
  public static long lastOfLog(Path current) throws IOException {
    for (LogSegments.Segment segment : LogSegments.segments(current).reversed()) {
      long last = lastOf(Files.readAllBytes(segment.path()));
      if (last >= 0) {
        return last;
      }
    }
    return -1;
  }

  /** The last entry of a segment. Damage followed by intact entries is not the end. */
  private static long lastOf(byte[] segment) throws IOException {
    int last = -1;
    int position = HEADER.length;
    while (position >= 0) {
      int next = behindEntry(segment, position);
      if (next > 0) {
        last = position;
        position = next;
      } else {
        position = isZero(segment, position) ? -1 : nextEntry(segment, position + 1);
      }
    }
    return last < 0 ? -1 : entryAt(segment, last).getIndex();
  }

  /**
   * Rewrites the open segments as new, durable files. The present files may contain entries that
   * only the page cache has, after the process was killed or a sync failed: Ratis would assume them
   * durable, and another sync of the same file need not write them.
   *
   * @return whether a torn tail was cut off
   */
  private static boolean rewriteOpen(Path current, CutRecord cut) throws IOException {
    boolean isCut = false;
    for (LogSegments.Segment segment : LogSegments.segments(current)) {
      if (segment.isOpen()) {
        byte[] bytes = Files.readAllBytes(segment.path());
        int end = tornAt(bytes);
        if (end < bytes.length) {
          cut.write();
          isCut = true;
        }
        replace(segment.path(), Arrays.copyOf(bytes, end));
      }
    }
    return isCut;
  }

  private static void replace(Path segment, byte[] bytes) throws IOException {
    Path unfinished = segment.resolveSibling(LogSegments.UNFINISHED);
    try {
      DurableFiles.replace(segment, unfinished, bytes);
    } catch (IOException e) {
      Files.deleteIfExists(unfinished);
      throw new LogNotWrittenException(segment, e);
    }
  }

  /** The position of a torn write; the length if there is none. */
  private static int tornAt(byte[] bytes) {
    if (!hasHeader(bytes)) {
      return bytes.length; // Ratis decides
    }
    int end = HEADER.length;
    for (int next = behindEntry(bytes, end); next > 0; next = behindEntry(bytes, end)) {
      end = next;
    }
    // An intact entry behind a broken one: then this is damage, which Ratis reports.
    return isZero(bytes, end) || nextEntry(bytes, end + 1) >= 0 ? bytes.length : end;
  }

  static boolean hasHeader(byte[] bytes) {
    return Arrays.equals(Arrays.copyOf(bytes, HEADER.length), HEADER);
  }

  static byte[] header() {
    return HEADER.clone();
  }

  static boolean isZero(byte[] bytes, int from) {
    for (int i = from; i < bytes.length; i++) {
      if (bytes[i] != 0) {
        return false;
      }
    }
    return true;
  }

  /** The position of the first intact entry from here on; -1: there is none. */
  static int nextEntry(byte[] bytes, int from) {
    for (int position = from; position < bytes.length; position++) {
      if (mayBeEntry(bytes, position) && behindEntry(bytes, position) > 0) {
        return position;
      }
    }
    return -1;
  }

  /** Parses the intact entry at this position. */
  static LogEntryProto entryAt(byte[] bytes, int position) throws IOException {
    ByteBuffer rest = ByteBuffer.wrap(bytes, position, bytes.length - position);
    int length = (int) varint(rest);
    return LogEntryProto.parseFrom(rest.slice(rest.position(), length));
  }

  /** The end of the entry at this position; 0 if there is none or it is broken. */
  static int behindEntry(byte[] bytes, int position) {
    ByteBuffer rest = ByteBuffer.wrap(bytes, position, bytes.length - position);
    long length = varint(rest);
    int start = rest.position();
    if (length <= 0 || length > rest.remaining() - CRC_BYTES) {
      return 0;
    }
    int end = start + (int) length;
    CRC32C crc = new CRC32C();
    crc.update(bytes, position, end - position);
    return (int) crc.getValue() == rest.getInt(end) ? end + CRC_BYTES : 0;
  }

  /**
   * A cheap test, so that the search after a broken entry need not compute a checksum at every
   * byte.
   */
  private static boolean mayBeEntry(byte[] bytes, int position) {
    ByteBuffer rest = ByteBuffer.wrap(bytes, position, bytes.length - position);
    return varint(rest) > 0
        && rest.hasRemaining()
        && rest.get() == TERM_TAG
        && varint(rest) > 0
        && rest.hasRemaining()
        && rest.get() == INDEX_TAG;
  }

  private static long varint(ByteBuffer bytes) {
    long value = 0;
    for (int i = 0; i < VARINT_MAX_BYTES && bytes.hasRemaining(); i++) {
      int next = bytes.get();
      value |= (long) (next & 0x7F) << (7 * i);
      if (next >= 0) {
        return value;
      }
    }
    return -1;
  }
}
