package dev.ashlar.server.node;

import com.sun.management.HotSpotDiagnosticMXBean;
import dev.ashlar.blob.context.MemoryBudget;
import dev.ashlar.protocol.memory.SlabPool;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.lang.management.ManagementFactory;
import java.time.Duration;

/**
 * Who may have how much of the direct memory. What is not shared out here is the sockets' (see the
 * gateway's byte budget) and the drives' own.
 */
final class DirectMemory {
  /** For the stripes and reads of requests; beyond it they wait, then SlowDown. */
  private static final int REQUESTS_EIGHTHS = 3;

  /** What other processes may have under way at the drives of this one. */
  private static final int SERVED_EIGHTHS = 2;

  /** Where unused slabs make way for new ones of other sizes. */
  private static final int SLABS_KEPT_EIGHTHS = 5;

  /** For blocks that changes have written lately: the next change of them need not read them. */
  private static final int RECENT_SIXTEENTHS = 1;

  private static final Duration MEMORY_WAIT = Duration.ofSeconds(5);

  private DirectMemory() {}

  static SlabPool slabs(MeterRegistry meters) {
    SlabPool slabs = new SlabPool(bytes() / 8 * SLABS_KEPT_EIGHTHS);
    Gauge.builder("ashlar.slabs.allocated", slabs, SlabPool::allocatedBytes)
        .description("Direct memory allocated for stripes and reads")
        .baseUnit("bytes")
        .register(meters);
    Gauge.builder("ashlar.slabs.lent", slabs, SlabPool::lentBytes)
        .description("Direct memory for stripes and reads that is in use now")
        .baseUnit("bytes")
        .register(meters);
    return slabs;
  }

  static MemoryBudget ofRequests(MeterRegistry meters) {
    MemoryBudget memory = new MemoryBudget(bytes() / 8 * REQUESTS_EIGHTHS, MEMORY_WAIT);
    Gauge.builder("ashlar.blob.memory.reserved", memory, MemoryBudget::reservedBytes)
        .description("Direct memory that running writes and reads have reserved")
        .baseUnit("bytes")
        .register(meters);
    Gauge.builder("ashlar.blob.memory.waiting", memory, MemoryBudget::waiting)
        .description("Writes and reads that wait for memory")
        .register(meters);
    Gauge.builder("ashlar.blob.memory.limit", memory, MemoryBudget::limitBytes)
        .description("Direct memory that running writes and reads may reserve")
        .baseUnit("bytes")
        .register(meters);
    return memory;
  }

  static long servedBytes() {
    return bytes() / 8 * SERVED_EIGHTHS;
  }

  static long recentBytes() {
    return bytes() / 16 * RECENT_SIXTEENTHS;
  }

  /** What -XX:MaxDirectMemorySize allows; unset, it is as much as the heap. */
  private static long bytes() {
    HotSpotDiagnosticMXBean vm = ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
    long set = Long.parseLong(vm.getVMOption("MaxDirectMemorySize").getValue());
    return set > 0 ? set : Runtime.getRuntime().maxMemory();
  }
}
