package dev.ashlar.metadata.consensus;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Optional;
import java.util.stream.Stream;
import java.util.zip.CRC32C;

/**
 * What is looked at in a peer's directory before Ratis opens it. Ratis takes an empty directory for
 * that of a new peer, and a write that a crash cut short for damage, because it writes into
 * preallocated zeros and so finds no end of the file behind it. All other damage it notices itself.
 *
 * <p>A segment of its log: "RaftLog1", then entries (length as a varint, bytes, CRC32C 4 of both,
 * big-endian), then zeros.
 */
final class RaftFiles {
  private static final byte[] HEADER = "RaftLog1".getBytes(StandardCharsets.UTF_8);
  private static final int CRC_BYTES = 4;
  private static final int VARINT_MAX_BYTES = 5;

  /** The field numbers of term and index, with which every entry but the very first begins. */
  private static final int TERM_TAG = 1 << 3;

  private static final int INDEX_TAG = 2 << 3;

  private RaftFiles() {}

  /**
   * Removes a torn tail.
   *
   * @param storage the directory of the peer's group
   * @return whether there was one
   * @throws IOException when the peer's vote is missing: it has forgotten what it promised
   */
  static boolean mend(Path storage) throws IOException {
    Path current = storage.resolve("current");
    if (!Files.exists(current.resolve("raft-meta"))) {
      throw new NoSuchFileException(current.resolve("raft-meta").toString(), null, "is missing");
    }
    Optional<Path> open;
    try (Stream<Path> files = Files.list(current)) {
      open =
          files
              .filter(file -> file.getFileName().toString().startsWith("log_inprogress_"))
              .max(Comparator.naturalOrder());
    }
    return open.isPresent() && cutTail(open.get());
  }

  private static boolean cutTail(Path segment) throws IOException {
    byte[] bytes = Files.readAllBytes(segment);
    if (!Arrays.equals(Arrays.copyOf(bytes, HEADER.length), HEADER)) {
      return false; // for Ratis to judge
    }
    int end = HEADER.length;
    for (int next = behindEntry(bytes, end); next > 0; next = behindEntry(bytes, end)) {
      end = next;
    }
    if (isZero(bytes, end) || isEntryBehind(bytes, end)) {
      return false;
    }
    try (FileChannel channel = FileChannel.open(segment, StandardOpenOption.WRITE)) {
      channel.truncate(end);
      channel.force(true);
    }
    return true;
  }

  private static boolean isZero(byte[] bytes, int from) {
    for (int i = from; i < bytes.length; i++) {
      if (bytes[i] != 0) {
        return false;
      }
    }
    return true;
  }

  /** A whole entry behind a broken one: then this is no tail but damage, which Ratis reports. */
  private static boolean isEntryBehind(byte[] bytes, int broken) {
    for (int position = broken + 1; position < bytes.length; position++) {
      if (mayBeEntry(bytes, position) && behindEntry(bytes, position) > 0) {
        return true;
      }
    }
    return false;
  }

  /** Where the entry at this position ends; 0 when there is none, or a broken one. */
  private static int behindEntry(byte[] bytes, int position) {
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

  /** Keeps the search behind a broken entry from computing a checksum at every byte. */
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
