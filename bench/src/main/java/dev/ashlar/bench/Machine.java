package dev.ashlar.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What a measurement belongs to. */
public final class Machine {
  private Machine() {}

  /** When and where, in a line. */
  public static String describe(Path dataFolder) throws IOException {
    return "%s; drive folders on %s.".formatted(where(), Files.getFileStore(dataFolder).type());
  }

  /** The same where no drives matter. */
  public static String describe() throws IOException {
    return where() + ".";
  }

  private static String where() throws IOException {
    return "%s; %d CPUs (%s), Linux %s"
        .formatted(
            Instant.now().truncatedTo(ChronoUnit.MINUTES),
            Runtime.getRuntime().availableProcessors(),
            cpuModel(),
            System.getProperty("os.version"));
  }

  private static String cpuModel() throws IOException {
    try (Stream<String> lines = Files.lines(Path.of("/proc/cpuinfo"))) {
      return lines
          .filter(line -> line.startsWith("model name"))
          .map(line -> line.substring(line.indexOf(':') + 1).strip())
          .distinct()
          .collect(Collectors.joining(", "));
    }
  }
}
