package dev.ashlar.metadata.consensus;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Optional;
import java.util.Set;
import java.util.zip.CRC32C;

/** Copies files and computes their checksums, without filling the page cache where possible. */
final class CheckedFiles {
  private static final Optional<OpenOption> DIRECT = direct();
  private static final int CHUNK_BYTES = 1 << 20;
  private static final int ALIGNMENT = 4096;
  private static final long SYNC_BYTES = 8 << 20;

  private CheckedFiles() {}

  /** The CRC32C of what the drive has. */
  static long crc(Path file, Pace pace) throws IOException, InterruptedException {
    if (DIRECT.isPresent()) {
      Set<OpenOption> options = Set.of(StandardOpenOption.READ, DIRECT.get());
      try (FileChannel channel = FileChannel.open(file, options)) {
        return crc(channel, pace);
      } catch (IOException | UnsupportedOperationException e) {
        // Not every file system reads around its cache; what is damaged fails again.
        return crcThroughCache(file, pace);
      }
    }
    return crcThroughCache(file, pace);
  }

  /** By name: it is a supported option of the JDK, but javac warns of it. */
  private static Optional<OpenOption> direct() {
    try {
      Object[] options = Class.forName("com.sun.nio.file.ExtendedOpenOption").getEnumConstants();
      return Arrays.stream(options)
          .filter(option -> option.toString().equals("DIRECT"))
          .map(OpenOption.class::cast)
          .findFirst();
    } catch (ClassNotFoundException e) {
      return Optional.empty();
    }
  }

  private static long crcThroughCache(Path file, Pace pace)
      throws IOException, InterruptedException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      return crc(channel, pace);
    }
  }

  private static long crc(FileChannel channel, Pace pace) throws IOException, InterruptedException {
    CRC32C crc = new CRC32C();
    ByteBuffer chunk = chunk();
    long size = channel.size();
    for (long at = 0; at < size; ) { // a direct read must not begin behind the end
      int read = channel.read(chunk, at);
      if (read <= 0) {
        throw new EOFException("at " + at + " of " + size);
      }
      crc.update(chunk.flip());
      chunk.clear();
      at += read;
      pace.done(read);
    }
    return crc.getValue();
  }

  private static ByteBuffer chunk() {
    return ByteBuffer.allocateDirect(CHUNK_BYTES + ALIGNMENT)
        .alignedSlice(ALIGNMENT)
        .limit(CHUNK_BYTES)
        .slice();
  }

  /**
   * Copies a file to a new one, which is durable when this returns; its name is not.
   *
   * @return the CRC32C of what was read
   */
  static long copy(Path from, Path to, Pace pace) throws IOException, InterruptedException {
    CRC32C crc = new CRC32C();
    ByteBuffer chunk = chunk();
    try (FileChannel source = FileChannel.open(from, StandardOpenOption.READ);
        FileChannel target =
            FileChannel.open(to, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      long unsynced = 0;
      for (int read = source.read(chunk); read >= 0; read = source.read(chunk)) {
        crc.update(chunk.flip());
        chunk.rewind();
        while (chunk.hasRemaining()) {
          target.write(chunk);
        }
        chunk.clear();
        unsynced += read;
        if (unsynced >= SYNC_BYTES) { // a large sync at the end would hold up the log's
          target.force(false);
          unsynced = 0;
        }
        pace.done(read);
      }
      target.force(true);
    }
    return crc.getValue();
  }

  /** The new name is durable when this returns. */
  static void rename(Path from, Path to) throws IOException {
    Files.move(from, to, StandardCopyOption.ATOMIC_MOVE);
    Syncs.directoryOf(to);
  }
}
