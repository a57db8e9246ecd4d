package dev.ashlar.bench.versus;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** The few figures we read from Linux's {@code /proc}. */
final class Proc {
  /** USER_HZ, fixed at 100 on every architecture Ashlar runs on. */
  private static final double MILLIS_PER_TICK = 10;

  private static final long KIB = 1024;

  private Proc() {}

  /** User and system time of a process and its living descendants. */
  static double cpuMillis(ProcessHandle process) throws IOException {
    double sum = 0;
    for (ProcessHandle member : family(process)) {
      sum += cpuMillis(member.pid());
    }
    return sum;
  }

  static long rssBytes(ProcessHandle process) throws IOException {
    long sum = 0;
    for (ProcessHandle member : family(process)) {
      sum += rssBytes(member.pid());
    }
    return sum;
  }

  private static List<ProcessHandle> family(ProcessHandle process) {
    return Stream.concat(Stream.of(process), process.descendants()).toList();
  }

  static double cpuMillis(long pid) throws IOException {
    String stat = read("/proc/" + pid + "/stat");
    if (stat.isEmpty()) {
      return 0;
    }
    // The command's name stands in parentheses and may hold anything; state is the field behind it.
    String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
    return (Long.parseLong(fields[11]) + Long.parseLong(fields[12])) * MILLIS_PER_TICK;
  }

  private static long rssBytes(long pid) throws IOException {
    return read("/proc/" + pid + "/status")
        .lines()
        .filter(line -> line.startsWith("VmRSS:"))
        .mapToLong(line -> Long.parseLong(line.replaceAll("\\D+", "")) * KIB)
        .sum();
  }

  /** All CPUs together: user, nice, system, interrupts; not idle, waiting or stolen. */
  static double machineCpuMillis() throws IOException {
    String[] fields = read("/proc/stat").lines().findFirst().orElseThrow().split(" +", -1);
    long ticks = 0;
    for (int field : new int[] {1, 2, 3, 6, 7}) {
      ticks += Long.parseLong(fields[field]);
    }
    return ticks * MILLIS_PER_TICK;
  }

  /** Empty when the process is gone. */
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
