package dev.ashlar.bench.process;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.stream.Stream;

/** The few figures we read from Linux's {@code /proc}; zero for a process that is gone. */
public final class Proc {
  /** USER_HZ, fixed at 100 on every architecture Ashlar runs on. */
  private static final double MILLIS_PER_TICK = 10;

  private static final long KIB = 1024;

  private Proc() {}

  /** User and system time. */
  public static double cpuMillis(long pid) throws IOException {
    String stat = read("/proc/" + pid + "/stat");
    if (stat.isEmpty()) {
      return 0;
    }
    // The command's name stands in parentheses and may hold anything; state is the field behind it.
    String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
    return (Long.parseLong(fields[11]) + Long.parseLong(fields[12])) * MILLIS_PER_TICK;
  }

  public static long rssBytes(long pid) throws IOException {
    return status(pid, "VmRSS:") * KIB;
  }

  public static long threads(long pid) throws IOException {
    return status(pid, "Threads:");
  }

  /** Open file descriptors. */
  public static long fileHandles(long pid) throws IOException {
    try (Stream<Path> handles = Files.list(Path.of("/proc/" + pid + "/fd"))) {
      return handles.count();
    } catch (NoSuchFileException e) {
      return 0;
    }
  }

  /** All CPUs together: user, nice, system, interrupts; not idle, waiting or stolen. */
  public static double machineCpuMillis() throws IOException {
    String[] fields = read("/proc/stat").lines().findFirst().orElseThrow().split(" +", -1);
    long ticks = 0;
    for (int field : new int[] {1, 2, 3, 6, 7}) {
      ticks += Long.parseLong(fields[field]);
    }
    return ticks * MILLIS_PER_TICK;
  }

  private static long status(long pid, String name) throws IOException {
    return read("/proc/" + pid + "/status")
        .lines()
        .filter(line -> line.startsWith(name))
        .mapToLong(line -> Long.parseLong(line.replaceAll("\\D+", "")))
        .sum();
  }

  private static String read(String file) throws IOException {
    try {
      return Files.readString(Path.of(file));
    } catch (NoSuchFileException e) {
      return "";
    } catch (IOException e) {
      if (e.getMessage() != null && e.getMessage().contains("No such process")) {
        return "";
      }
      throw e;
    }
  }
}
