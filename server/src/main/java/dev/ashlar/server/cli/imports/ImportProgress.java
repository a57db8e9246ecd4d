package dev.ashlar.server.cli.imports;

import dev.ashlar.importer.Importer;
import dev.ashlar.importer.Tally;
import dev.ashlar.server.cli.Terminal;
import dev.ashlar.server.cli.admin.Units;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/** Shows how far a pass is: in a terminal each second in one line, elsewhere now and then. */
final class ImportProgress {
  private static final Duration PAUSE_IN_TERMINAL = Duration.ofSeconds(1);
  private static final Duration PAUSE = Duration.ofSeconds(30);

  /** Rates are those of the last looks. */
  private static final int LOOKS = 15;

  private final boolean isTerminal = Terminal.isOutput();
  private final Deque<Look> looks = new ArrayDeque<>();
  private @Nullable Thread thread;

  /** How far it was at a time. */
  record Look(long nanos, long versions, long bytes) {}

  ImportProgress() {}

  static ImportProgress start(Importer importer) {
    ImportProgress progress = new ImportProgress();
    progress.thread =
        Thread.ofPlatform().daemon().name("progress").start(() -> progress.show(importer));
    return progress;
  }

  private void show(Importer importer) {
    try {
      while (true) {
        Thread.sleep(isTerminal ? PAUSE_IN_TERMINAL : PAUSE);
        String line = line(importer.tally(), System.nanoTime());
        System.out.print(isTerminal ? "\r" + line + "\u001b[K" : line + System.lineSeparator());
        System.out.flush();
      }
    } catch (InterruptedException e) {
      if (isTerminal) {
        System.out.print("\r\u001b[K");
      }
    }
  }

  String line(Tally tally, long nanos) {
    looks.add(new Look(nanos, tally.done(), tally.doneBytes()));
    if (looks.size() > LOOKS) {
      looks.remove();
    }
    Look first = looks.getFirst();
    Look last = looks.getLast();
    double seconds = (last.nanos() - first.nanos()) / 1e9;
    double bytes = seconds <= 0 ? 0 : Math.max(0, last.bytes() - first.bytes()) / seconds;
    double versions = seconds <= 0 ? 0 : (last.versions() - first.versions()) / seconds;
    boolean isCounted = tally.versions() > 0;
    String of = tally.isComplete() ? " of " : " of at least ";
    return "%d%s versions, %s%s, %.0f/s, %s%s"
        .formatted(
            last.versions(),
            isCounted ? of + tally.versions() : "",
            Units.bytes((double) last.bytes()),
            isCounted ? of + Units.bytes((double) tally.bytes()) : "",
            versions,
            Units.pace(bytes, left(tally, last, versions, bytes)),
            tally.failures() == 0 ? "" : ", " + tally.failures() + " failed");
  }

  /** Null where it is not known. */
  private static @Nullable Duration left(
      Tally tally, Look now, double versionsPerSecond, double bytesPerSecond) {
    if (!tally.isComplete()) {
      return null;
    }
    double byVersions = left(tally.versions() - now.versions(), versionsPerSecond);
    double byBytes = left(tally.bytes() - now.bytes(), bytesPerSecond);
    double seconds = Math.max(byVersions, byBytes);
    return Double.isInfinite(seconds) ? null : Duration.ofSeconds((long) seconds);
  }

  private static double left(long rest, double rate) {
    return rest <= 0 ? 0 : rate <= 0 ? Double.POSITIVE_INFINITY : rest / rate;
  }

  void stop() throws InterruptedException {
    Thread running = thread;
    if (running != null) {
      running.interrupt();
      running.join();
    }
  }
}
