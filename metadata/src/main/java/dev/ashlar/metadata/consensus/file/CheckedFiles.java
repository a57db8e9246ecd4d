package dev.ashlar.metadata.consensus.file;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Optional;
import java.util.Set;
import java.util.zip.CRC32C;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Copies files and computes their checksums, around the page cache where possible. */
public final class CheckedFiles {
  private static final Logger LOG = LoggerFactory.getLogger(CheckedFiles.class);
  private static final Optional<OpenOption> DIRECT = direct();
  private static final int CHUNK_BYTES = 1 << 20;

  /** The alignment of direct reads, for block sizes up to this. */
  private static final int ALIGNMENT = 64 << 10;

  private static final long SYNC_BYTES = 8 << 20;

  private CheckedFiles() {}

  /**
   * The CRC32C of the content on the drive.
   *
   * @throws IOException also when only the page cache still has the content
   */
  public static long crc(Path file, IoPacer pace) throws IOException, InterruptedException {
    CRC32C crc = new CRC32C();
    ByteBuffer chunk = chunk();
    try (FileChannel channel = open(file)) {
      long size = channel.size();
      for (long at = 0; at < size; ) { // a direct read must not begin after the end
        int read = channel.read(chunk, at);
        if (read <= 0) {
          throw new EOFException("at " + at + " of " + size);
        }
        crc.update(chunk.flip());
        chunk.clear();
        at += read;
        pace.done(read);
      }
    }
    return crc.getValue();
  }

  /** Opens a file for direct reads, if the file system supports them. */
  private static FileChannel open(Path file) throws IOException {
    if (DIRECT.isPresent()) {
      try {
        if (Files.getFileStore(file).getBlockSize() <= ALIGNMENT) {
          return FileChannel.open(file, Set.of(StandardOpenOption.READ, DIRECT.get()));
        }
      } catch (IOException | UnsupportedOperationException e) {
        LOG.debug("Direct reads are not possible; {} is read through the page cache.", file, e);
      }
    }
    return FileChannel.open(file, StandardOpenOption.READ);
  }

  /** Looked up by name: the option is supported by the JDK, but javac warns about it. */
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
  public static long copy(Path from, Path to, IoPacer pace)
      throws IOException, InterruptedException {
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
        if (unsynced >= SYNC_BYTES) { // one large sync at the end would delay the log's syncs
          target.force(false);
          unsynced = 0;
        }
        pace.done(read);
      }
      target.force(true);
    }
    return crc.getValue();
  }
}
