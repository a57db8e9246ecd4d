package dev.ashlar.bench.result;

import dev.ashlar.bench.Json;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;

/**
 * Where one run of a command keeps what it measured: a new folder with the date in its name, in it
 * {@code phase/profile/pass/step}. Nothing is ever overwritten.
 */
public final class ResultFolder {
  private static final DateTimeFormatter STAMP = DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HHmmss");

  private final Path path;
  private final String phase;

  private ResultFolder(Path path, String phase) {
    this.path = path;
    this.phase = phase;
  }

  /**
   * @param root made when it is not there
   * @param command becomes part of the name
   * @param phase what all of its results belong to
   */
  public static ResultFolder create(Path root, String command, String phase) throws IOException {
    Path parent = Files.createDirectories(root).toRealPath();
    String name = STAMP.format(LocalDateTime.now(ZoneOffset.UTC)) + "-" + command;
    for (int attempt = 1; ; attempt++) {
      Path path = parent.resolve(attempt == 1 ? name : name + "-" + attempt);
      try {
        return new ResultFolder(Files.createDirectory(path), phase);
      } catch (FileAlreadyExistsException e) {
        // Another run began in the same second.
      }
    }
  }

  public Path path() {
    return path;
  }

  /** Keeps a step's result. */
  public void writeStep(String profile, int pass, String step, Record result) throws IOException {
    Path folder = path.resolve(fileName(phase)).resolve(fileName(profile)).resolve("pass-" + pass);
    write(folder.resolve(fileName(step)).resolve("result.json"), Json.of(result));
  }

  /** Keeps the figures of the whole run. */
  public void write(String name, Record result) throws IOException {
    write(path.resolve(fileName(name)), Json.of(result));
  }

  private static void write(Path file, String text) throws IOException {
    Files.createDirectories(file.getParent());
    Files.writeString(file, text, StandardOpenOption.CREATE_NEW);
  }

  /** A name in its folder, whatever the text is: no path, and neither "." nor "..". */
  private static String fileName(String text) {
    String name = text.replaceAll("[^A-Za-z0-9.+=_-]+", "-");
    return name.isEmpty() || name.startsWith(".") ? "-" + name : name;
  }
}
