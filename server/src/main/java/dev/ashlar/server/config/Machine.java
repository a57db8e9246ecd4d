package dev.ashlar.server.config;

import com.sun.management.HotSpotDiagnosticMXBean;
import com.sun.management.OperatingSystemMXBean;
import com.sun.management.UnixOperatingSystemMXBean;
import java.lang.management.ManagementFactory;

/**
 * What this process may use of its machine, limits of containers included.
 *
 * @param memoryBytes of the machine or its container
 * @param heapBytes to which Java's heap may grow
 * @param directBytes to which direct memory may grow
 * @param openFiles sockets included; Java raises its limit to the hard one when it starts
 */
public record Machine(
    int processors, long memoryBytes, long heapBytes, long directBytes, long openFiles) {

  /** As the Java virtual machine knows it; {@code jvm-sizes} has chosen heap and direct memory. */
  public static Machine ofProcess() {
    return new Machine(
        Runtime.getRuntime().availableProcessors(),
        ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getTotalMemorySize(),
        Runtime.getRuntime().maxMemory(),
        direct(),
        files());
  }

  /** What -XX:MaxDirectMemorySize allows; unset, it is as much as the heap. */
  private static long direct() {
    HotSpotDiagnosticMXBean vm = ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
    long set = Long.parseLong(vm.getVMOption("MaxDirectMemorySize").getValue());
    return set > 0 ? set : Runtime.getRuntime().maxMemory();
  }

  private static long files() {
    return ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean unix
        ? unix.getMaxFileDescriptorCount()
        : Long.MAX_VALUE;
  }
}
