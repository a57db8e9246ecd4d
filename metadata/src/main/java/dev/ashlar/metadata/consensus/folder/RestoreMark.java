package dev.ashlar.metadata.consensus.folder;

import dev.ashlar.metadata.consensus.file.DurableFiles;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The file {@code restored} of a folder that was filled from a backup and belongs to no Raft group
 * yet. It is written last. The peers of all such folders form a new group, which begins with their
 * tables: so all must be of the same backup and time.
 *
 * @param text names backup and time
 */
public record RestoreMark(String text) {
  private static final String FILE = "restored";
  private static final Pattern TEXT = Pattern.compile("[0-9a-f-]{36}@[0-9TZ:-]{20}");

  public RestoreMark {
    if (!TEXT.matcher(text).matches()) {
      throw new IllegalArgumentException(text);
    }
  }

  public static RestoreMark of(UUID backup, Instant time) {
    return new RestoreMark(backup + "@" + time);
  }

  public void write(Path folder) throws IOException {
    byte[] content = (text + "\n").getBytes(StandardCharsets.US_ASCII);
    DurableFiles.replace(folder.resolve(FILE), folder.resolve(FILE + ".new"), content);
  }

  /** That of a folder; empty if it was not restored, or belongs to a group. */
  static Optional<RestoreMark> in(Path folder) throws IOException {
    Path file = folder.resolve(FILE);
    if (!Files.exists(file)) {
      return Optional.empty();
    }
    try {
      return Optional.of(new RestoreMark(Files.readString(file).strip()));
    } catch (IllegalArgumentException e) {
      throw new IOException(file + " is damaged: empty the folder and restore it again", e);
    }
  }

  static void remove(Path folder) throws IOException {
    Files.deleteIfExists(folder.resolve(FILE));
  }

  /** The format of a folder with this mark. */
  String format() {
    return text + "@" + UUID.randomUUID();
  }

  /** The mark in the format of a folder; empty if that was not restored. */
  public static String ofFormat(String format) {
    Matcher mark = TEXT.matcher(format);
    return mark.lookingAt() ? mark.group() : "";
  }
}
