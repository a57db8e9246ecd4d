package dev.ashlar.metadata.consensus.checkpoint;

import dev.ashlar.metadata.consensus.file.CheckedFiles;
import dev.ashlar.metadata.consensus.file.DamagedFileException;
import dev.ashlar.metadata.consensus.file.DurableFiles;
import dev.ashlar.metadata.consensus.file.IoPacer;
import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.zip.CRC32C;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The file {@code SUMS} of a checkpoint: length and CRC32C of each of its files.
 *
 * <p>Text: "ashlar-sums 1", a line "NAME BYTES CRC" per file in the order of their names, CRC as 8
 * hex digits or "-" while it is not known, and "end CRC" over all lines before.
 */
public record FileSums(NavigableMap<String, Sum> files) {
  private static final Logger LOG = LoggerFactory.getLogger(FileSums.class);
  static final String FILE = "SUMS";
  private static final String UNFINISHED = FILE + ".new";
  private static final String FORMAT = "ashlar-sums 1";
  private static final String TABLE = ".sst";
  private static final String DIGEST = ".md5"; // beside what Ratis received
  private static final int HEX = 16;

  static final FileSums NONE = new FileSums(Collections.emptyNavigableMap());

  /** The checksum of a file that was not read yet. */
  static final long UNKNOWN = -1;

  /** Length and checksum of one file. */
  record Sum(long bytes, long crc) {
    private String text() {
      return bytes + " " + (crc == UNKNOWN ? "-" : String.format("%08x", crc));
    }
  }

  static boolean isTable(String name) {
    return name.endsWith(TABLE);
  }

  /**
   * Whether a file of a checkpoint belongs to the tables, and is neither SUMS nor a digest of
   * Ratis.
   */
  static boolean isContent(Path file) {
    String name = file.getFileName().toString();
    return !name.startsWith(FILE) && !name.endsWith(DIGEST);
  }

  /**
   * Whether the checkpoint has checksums. One that was received, or taken by an earlier build, has
   * none before its second copy is made.
   */
  static boolean isThere(Path checkpoint) {
    return Files.exists(checkpoint.resolve(FILE));
  }

  /** The checksums of a checkpoint, if it has any and they are intact. */
  static FileSums readOrNone(Path checkpoint) {
    if (!isThere(checkpoint)) {
      return NONE;
    }
    try {
      return read(checkpoint);
    } catch (IOException e) {
      LOG.error("Checksums of {} are damaged; those of the second copy are used.", checkpoint, e);
      return NONE;
    }
  }

  /** The checksums of a new checkpoint. Its tables, nearly all of its bytes, are read later. */
  public static FileSums ofNew(Path checkpoint) throws IOException, InterruptedException {
    NavigableMap<String, Sum> sums = new TreeMap<>();
    for (Path file : Checkpoints.content(checkpoint)) {
      String name = file.getFileName().toString();
      long crc = isTable(name) ? UNKNOWN : CheckedFiles.crc(file, IoPacer.unlimited());
      sums.put(name, new Sum(Files.size(file), crc));
    }
    return new FileSums(sums);
  }

  /**
   * @throws IOException also when the file is damaged
   */
  static FileSums read(Path checkpoint) throws IOException {
    Path file = checkpoint.resolve(FILE);
    String text = new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1);
    int end = text.lastIndexOf("end ");
    if (end < 0 || !text.substring(end).equals(ending(text.substring(0, end)))) {
      throw new DamagedFileException(file + " is damaged");
    }
    List<String> lines = text.substring(0, end).lines().toList();
    if (!lines.getFirst().equals(FORMAT)) {
      throw new IOException(file + " has an unknown format: " + lines.getFirst());
    }
    NavigableMap<String, Sum> sums = new TreeMap<>();
    for (String line : lines.subList(1, lines.size())) {
      String[] words = line.split(" ", -1);
      long crc = words[2].equals("-") ? UNKNOWN : Long.parseLong(words[2], HEX);
      sums.put(words[0], new Sum(Long.parseLong(words[1]), crc));
    }
    return new FileSums(sums);
  }

  /** Replaces the file; durable when this returns. */
  void write(Path checkpoint) throws IOException {
    byte[] content = text().getBytes(StandardCharsets.ISO_8859_1);
    DurableFiles.replace(checkpoint.resolve(FILE), checkpoint.resolve(UNFINISHED), content);
  }

  String text() {
    StringBuilder lines = new StringBuilder(FORMAT).append('\n');
    files.forEach((name, sum) -> lines.append(name).append(' ').append(sum.text()).append('\n'));
    return lines.append(ending(lines.toString())).toString();
  }

  private static String ending(String lines) {
    CRC32C crc = new CRC32C();
    crc.update(lines.getBytes(StandardCharsets.ISO_8859_1));
    return String.format("end %08x\n", crc.getValue());
  }

  /**
   * A quick check: compares the lengths, and the content of files that are not tables.
   *
   * @throws IOException naming the first file that differs
   */
  void checkQuickly(Path checkpoint) throws IOException, InterruptedException {
    for (var file : files.entrySet()) {
      boolean isShort = isTable(file.getKey());
      if (!isWhole(checkpoint, file.getKey(), isShort, IoPacer.unlimited())) {
        requireReadable(checkpoint, file.getKey());
        throw new DamagedFileException(checkpoint.resolve(file.getKey()) + " is damaged");
      }
    }
  }

  /** Whether this file of the checkpoint is unchanged. */
  public boolean isWhole(Path checkpoint, String name, IoPacer pace) throws InterruptedException {
    return isWhole(checkpoint, name, false, pace);
  }

  /**
   * Called for a file that is not intact: returns normally if it is damaged or missing.
   *
   * @throws IOException when it cannot be read, which may be temporary
   */
  static void requireReadable(Path checkpoint, String name)
      throws IOException, InterruptedException {
    try {
      long unused = CheckedFiles.crc(checkpoint.resolve(name), IoPacer.unlimited());
    } catch (NoSuchFileException e) {
      return;
    } catch (ClosedByInterruptException e) {
      throw new InterruptedException();
    }
  }

  private boolean isWhole(Path checkpoint, String name, boolean isLengthEnough, IoPacer pace)
      throws InterruptedException {
    Sum sum = files.get(name);
    Path file = checkpoint.resolve(name);
    try {
      return sum != null
          && Files.size(file) == sum.bytes()
          && (isLengthEnough || CheckedFiles.crc(file, pace) == sum.crc());
    } catch (ClosedByInterruptException e) {
      throw new InterruptedException();
    } catch (IOException e) {
      return false; // missing or unreadable
    }
  }
}
