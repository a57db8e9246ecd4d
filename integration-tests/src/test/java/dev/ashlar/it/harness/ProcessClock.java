package dev.ashlar.it.harness;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Map;

/** The time of day of one process, which can be set while it runs. Needs gcc, but not root. */
public final class ProcessClock {
  private static final Path SOURCE = Path.of("src", "test", "c", "clock-shift.c");

  private final Path file;

  /** It agrees with the machine's. */
  ProcessClock(Path file) {
    this.file = file;
    set(Duration.ZERO);
  }

  /** Why processes cannot have clocks of their own here; empty if they can. */
  public static String refusal() {
    return Library.REFUSAL;
  }

  /** What the process has to be started with that goes by this clock. */
  Map<String, String> environment() {
    return Map.of("LD_PRELOAD", Library.FILE.toString(), "ASHLAR_TEST_CLOCK", file.toString());
  }

  /**
   * It jumps.
   *
   * @param ahead of the machine's clock from now on, in whole seconds; negative: behind
   */
  public void set(Duration ahead) {
    ByteBuffer seconds = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.nativeOrder());
    seconds.putLong(ahead.toSeconds()).flip();
    try (FileChannel shift =
        FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      shift.write(seconds, 0);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** What is preloaded, compiled once. */
  private static final class Library {
    static final Path FILE = Path.of("target").toAbsolutePath().resolve("clock-shift.so");
    static final String REFUSAL = compile();

    private static String compile() {
      try {
        Files.createDirectories(FILE.getParent());
        Commands.Ended compiled =
            Commands.tried("gcc", "-shared", "-fPIC", "-O2", "-o", "" + FILE, "" + SOURCE, "-ldl");
        return compiled.code() == 0 ? "" : "no clock for a process: " + compiled.output();
      } catch (IOException | UncheckedIOException e) {
        return "a clock for a process needs gcc: " + e.getMessage();
      }
    }
  }
}
