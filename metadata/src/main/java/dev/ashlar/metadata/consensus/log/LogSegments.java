package dev.ashlar.metadata.consensus.log;

import dev.ashlar.metadata.consensus.file.DurableFiles;
import dev.ashlar.metadata.consensus.file.IoPacer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds the segments of a Raft log, verifies them, and removes damaged parts that a checkpoint
 * covers.
 */
public final class LogSegments {
  private static final Logger LOG = LoggerFactory.getLogger(LogSegments.class);

  /** The first entry and, for a closed segment, the last one. */
  private static final Pattern SEGMENT =
      Pattern.compile("log_(?:inprogress_(?=\\d+$))?(\\d{1,18})(?:-(\\d{1,18}))?");

  /** Ratis ignores files with this name. */
  static final String UNFINISHED = "log.new";

  private LogSegments() {}

  /**
   * A file of the log.
   *
   * @param last {@link #OPEN} for the segment that is being written
   */
  public record Segment(Path path, long first, long last) {
    static final long OPEN = -1;

    public boolean isOpen() {
      return last == OPEN;
    }

    /** The file for the same entries beginning with this one. */
    Path from(long index) {
      return path.resolveSibling(
          isOpen() ? "log_inprogress_" + index : "log_" + index + "-" + last);
    }
  }

  /**
   * The intact end of the log, after all damage.
   *
   * @param segment the segment of the first entry of that end
   * @param position of that entry; the length of the file if the segment has none
   * @param index of that entry
   */
  private record Rest(Segment segment, byte[] bytes, int position, long index) {}

  /** The segments of a log, in order. */
  public static List<Segment> segments(Path current) throws IOException {
    return DurableFiles.list(current).stream()
        .flatMap(file -> segment(file).stream())
        .sorted(Comparator.comparingLong(Segment::first))
        .toList();
  }

  /** Whether a file of this name belongs to a log. */
  static boolean isSegment(String name) {
    return SEGMENT.matcher(name).matches();
  }

  private static Optional<Segment> segment(Path file) {
    Matcher name = SEGMENT.matcher(file.getFileName().toString());
    if (!name.matches()) {
      return Optional.empty();
    }
    String last = name.group(2);
    return Optional.of(
        new Segment(
            file,
            Long.parseLong(name.group(1)),
            last == null ? Segment.OPEN : Long.parseLong(last)));
  }

  /** The first entry; {@link Long#MAX_VALUE} when there is none. */
  public static long firstIndex(Path current) throws IOException {
    List<Segment> segments = Files.isDirectory(current) ? segments(current) : List.of();
    return segments.isEmpty() ? Long.MAX_VALUE : segments.getFirst().first();
  }

  /**
   * Reads the log while it is in use.
   *
   * @param written an entry that is known to be durable
   * @return the first damaged segment
   */
  public static Optional<Path> damage(Path current, long written, IoPacer pace)
      throws IOException, InterruptedException {
    for (Segment segment : segments(current)) {
      try {
        byte[] bytes = Files.readAllBytes(segment.path());
        long needed = segment.isOpen() ? written : segment.last();
        if (wholeUpTo(segment, bytes) < needed && Files.exists(segment.path())) {
          return Optional.of(segment.path());
        }
        pace.done(bytes.length);
      } catch (NoSuchFileException e) {
        LOG.debug("{} was closed or purged meanwhile.", segment.path());
      }
    }
    return Optional.empty();
  }

  /** The last entry up to which all entries of the segment are intact. */
  private static long wholeUpTo(Segment segment, byte[] bytes) {
    if (!RaftFiles.hasHeader(bytes)) {
      return segment.first() - 1;
    }
    long index = segment.first();
    int position = RaftFiles.behindEntry(bytes, RaftFiles.HEADER_BYTES);
    while (position > 0) {
      index++;
      position = RaftFiles.behindEntry(bytes, position);
    }
    return index - 1;
  }

  /**
   * Removes the log up to its last damaged entry, if a checkpoint covers it. Called before the log
   * is opened.
   *
   * @param covered the last entry that the checkpoint contains
   */
  public static void dropDamaged(Path current, long covered) throws IOException {
    if (!Files.isDirectory(current)) {
      return;
    }
    List<Segment> segments = segments(current);
    Optional<Rest> rest = Optional.empty();
    for (Segment segment : segments) {
      if (segment.first() <= covered) {
        Optional<Rest> here = restOf(segment, Files.readAllBytes(segment.path()));
        rest = here.isPresent() ? here : rest;
      }
    }
    if (rest.isPresent() && rest.get().index() <= covered + 1) {
      drop(segments, rest.get());
      LOG.error(
          "The metadata log in {} was damaged before entry {}. The checkpoint at entry "
              + "{} covers that part, which was removed from the log.",
          current,
          rest.get().index(),
          covered);
    }
  }

  /** Empty if nothing is damaged, or if the damage may be a torn write. */
  private static Optional<Rest> restOf(Segment segment, byte[] bytes) throws IOException {
    Optional<Rest> rest = Optional.empty();
    long index = segment.first();
    int position = RaftFiles.HEADER_BYTES;
    boolean isDamaged = !RaftFiles.hasHeader(bytes);
    while (true) {
      int next = isDamaged ? 0 : RaftFiles.behindEntry(bytes, position);
      if (next > 0) {
        index++;
        position = next;
        continue;
      }
      boolean isEnd =
          segment.isOpen()
              ? !isDamaged && RaftFiles.isZero(bytes, position)
              : index > segment.last();
      if (isEnd) {
        return rest;
      }
      int whole = RaftFiles.nextEntry(bytes, isDamaged ? position : position + 1);
      if (whole < 0) {
        return segment.isOpen()
            ? rest
            : Optional.of(new Rest(segment, bytes, bytes.length, segment.last() + 1));
      }
      index = RaftFiles.entryAt(bytes, whole).getIndex();
      position = whole;
      isDamaged = false;
      rest = Optional.of(new Rest(segment, bytes, whole, index));
    }
  }

  /** After a crash in between, the next start does the same again. */
  private static void drop(List<Segment> segments, Rest rest) throws IOException {
    Path kept = rest.segment().from(rest.index());
    if (rest.position() < rest.bytes().length) {
      Path unfinished = kept.resolveSibling(UNFINISHED);
      ByteArrayOutputStream content = new ByteArrayOutputStream(rest.bytes().length);
      content.write(RaftFiles.header());
      content.write(rest.bytes(), rest.position(), rest.bytes().length - rest.position());
      DurableFiles.replace(kept, unfinished, content.toByteArray());
    }
    for (Segment segment : segments) {
      if (segment.first() <= rest.segment().first() && !segment.path().equals(kept)) {
        Files.delete(segment.path());
      }
    }
    DurableFiles.syncDirectoryOf(kept);
  }
}
