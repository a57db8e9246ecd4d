package dev.ashlar.server.admin;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.RuntimeMXBean;
import java.lang.management.ThreadInfo;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/**
 * What tells of this process itself. Values of system properties and options of agents are left
 * out, because anybody may put anything into them.
 *
 * @param javaOptions of the command line; most by name only
 * @param threads the stacks of all platform threads
 * @param log its last lines, oldest first
 */
public record Diagnosis(
    Instant now,
    Instant started,
    String java,
    String system,
    int processors,
    double load,
    List<String> javaOptions,
    List<Memory> memory,
    List<Collector> collectors,
    List<String> threads,
    List<String> log) {
  private static final int FRAMES_MAX = 40;

  /** A pool of memory; {@code maxBytes} is -1 if it has no limit. */
  public record Memory(String name, long usedBytes, long committedBytes, long maxBytes) {}

  /** A garbage collector since the start. */
  public record Collector(String name, long collections, long millis) {}

  static Diagnosis ofThisProcess() {
    RuntimeMXBean runtime = ManagementFactory.getRuntimeMXBean();
    var system = ManagementFactory.getOperatingSystemMXBean();
    return new Diagnosis(
        Instant.now(),
        Instant.ofEpochMilli(runtime.getStartTime()),
        runtime.getVmName() + " " + Runtime.version(),
        system.getName() + " " + system.getVersion() + " " + system.getArch(),
        system.getAvailableProcessors(),
        system.getSystemLoadAverage(),
        runtime.getInputArguments().stream().map(Diagnosis::withoutValue).toList(),
        ManagementFactory.getMemoryPoolMXBeans().stream().map(Diagnosis::memory).toList(),
        ManagementFactory.getGarbageCollectorMXBeans().stream().map(Diagnosis::collector).toList(),
        stacks(),
        RecentLog.lines());
  }

  static String withoutValue(String option) {
    boolean isKnown = option.startsWith("-X") || option.startsWith("--add");
    int value = isKnown ? -1 : option.indexOf('=');
    return value < 0 ? option : option.substring(0, value + 1) + "…";
  }

  private static Memory memory(MemoryPoolMXBean pool) {
    var usage = pool.getUsage();
    return new Memory(pool.getName(), usage.getUsed(), usage.getCommitted(), usage.getMax());
  }

  private static Collector collector(GarbageCollectorMXBean bean) {
    return new Collector(bean.getName(), bean.getCollectionCount(), bean.getCollectionTime());
  }

  private static List<String> stacks() {
    List<String> lines = new ArrayList<>();
    ThreadInfo[] all = ManagementFactory.getThreadMXBean().dumpAllThreads(false, false, FRAMES_MAX);
    Arrays.stream(all)
        .sorted(Comparator.comparing(ThreadInfo::getThreadName))
        .forEach(
            thread -> {
              String lock = thread.getLockName() == null ? "" : ", at " + thread.getLockName();
              lines.add(thread.getThreadName() + ": " + thread.getThreadState() + lock);
              for (StackTraceElement frame : thread.getStackTrace()) {
                lines.add("  " + frame);
              }
            });
    return lines;
  }
}
