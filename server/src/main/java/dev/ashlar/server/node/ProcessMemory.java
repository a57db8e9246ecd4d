package dev.ashlar.server.node;

import dev.ashlar.blob.context.ErasureCodes;
import dev.ashlar.blob.context.MemoryBudget;
import dev.ashlar.gateway.http.S3Server;
import dev.ashlar.protocol.memory.ByteBudget;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.server.config.ServerOptions;
import dev.ashlar.server.config.Sizes;
import dev.ashlar.storage.drive.DriveResources;
import dev.ashlar.storage.drive.DriveResources.Budget;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Who may have how much of the direct memory, and what the process' resident memory consists of.
 * What is not shared out here is the drives' own.
 */
final class ProcessMemory {
  /** For the stripes and reads of requests; beyond it they wait, then SlowDown. */
  private static final int REQUESTS_EIGHTHS = 3;

  /** What other processes may have under way at the drives of this one. */
  private static final int SERVED_EIGHTHS = 2;

  private static final int CONNECTIONS_EIGHTHS = 2;

  /** Where unused slabs make way for new ones of other sizes. */
  private static final int SLABS_KEPT_EIGHTHS = 5;

  /** For blocks that changes have written lately: the next change of them need not read them. */
  private static final int RECENT_SIXTEENTHS = 1;

  private static final Duration MEMORY_WAIT = Duration.ofSeconds(5);
  private static final Path STATUS = Path.of("/proc/self/status");
  private static final String RESIDENT = "VmRSS:";

  private ProcessMemory() {}

  /**
   * What the drives of a process share.
   *
   * @throws IOException if the process may open too few files for so many drives
   */
  static DriveResources resources(
      ServerOptions options, ErasureCodes codes, MeterRegistry meters, Clock clock)
      throws IOException {
    Sizes sizes = options.sizes();
    sizes.warnIfTooLarge();
    long directBytes = sizes.machine().directBytes();
    SlabPool slabs = new SlabPool(directBytes / 8 * SLABS_KEPT_EIGHTHS);
    String allocated = "Direct memory allocated for stripes and reads";
    bytes("ashlar.slabs.allocated", allocated, slabs::allocatedBytes).register(meters);
    String lent = "Direct memory for stripes and reads that is in use now";
    bytes("ashlar.slabs.lent", lent, slabs::lentBytes).register(meters);
    Budget budget =
        new OpenFiles(sizes.openFiles())
            .share(options.dataFolders().size())
            .withRecentBytes(directBytes / 16 * RECENT_SIXTEENTHS)
            .withIndexes(sizes.blockCacheBytes(), sizes.writeBufferBytes(), sizes.driveReads());
    DriveResources resources = new DriveResources(slabs, meters, clock, codes::of, budget);
    measure(resources::cachedBytes, meters);
    return resources;
  }

  static MemoryBudget ofRequests(Sizes sizes, MeterRegistry meters) {
    long bytes = sizes.machine().directBytes() / 8 * REQUESTS_EIGHTHS;
    MemoryBudget memory = new MemoryBudget(bytes, MEMORY_WAIT);
    String reserved = "Direct memory that running writes and reads have reserved";
    bytes("ashlar.blob.memory.reserved", reserved, memory::reservedBytes).register(meters);
    String limit = "Direct memory that running writes and reads may reserve";
    bytes("ashlar.blob.memory.limit", limit, memory::limitBytes).register(meters);
    Gauge.builder("ashlar.blob.memory.waiting", memory, MemoryBudget::waiting)
        .description("Writes and reads that wait for memory")
        .register(meters);
    return memory;
  }

  static long servedBytes(Sizes sizes) {
    return sizes.machine().directBytes() / 8 * SERVED_EIGHTHS;
  }

  /** For bodies and unsent answers of the S3 port. */
  static ByteBudget ofConnections(Sizes sizes) {
    return new ByteBudget(sizes.machine().directBytes() / 8 * CONNECTIONS_EIGHTHS);
  }

  private static Gauge.Builder<Supplier<Number>> bytes(
      String name, String description, Supplier<Number> value) {
    return Gauge.builder(name, value).description(description).baseUnit("bytes");
  }

  /**
   * @param rocks bytes of RocksDB's blocks and memtables; asked as long as meters are read
   */
  private static void measure(LongSupplier rocks, MeterRegistry meters) {
    part("heap", ProcessMemory::heap, meters);
    part("direct", ProcessMemory::direct, meters);
    part("rocksdb", rocks::getAsLong, meters);
    if (Files.isReadable(STATUS)) {
      part("other", () -> other(rocks), meters);
      String resident = "Resident memory of the process";
      bytes("ashlar.memory.resident", resident, ProcessMemory::resident).register(meters);
    }
  }

  private static void part(String name, Supplier<Number> value, MeterRegistry meters) {
    bytes("ashlar.memory", "Memory by its use; heap as committed", value)
        .tag("part", name)
        .register(meters);
  }

  private static long heap() {
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getCommitted();
  }

  /** The JDK's buffers, and Netty's, which it does not tell the JDK of. */
  private static long direct() {
    long bytes = S3Server.bufferBytes();
    for (BufferPoolMXBean pool : ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class)) {
      bytes += pool.getName().equals("direct") ? pool.getMemoryUsed() : 0;
    }
    return bytes;
  }

  /** Not below 0: what is committed or allocated but was never touched is not resident. */
  private static long other(LongSupplier rocks) {
    return Math.max(0, resident() - heap() - direct() - rocks.getAsLong());
  }

  private static long resident() {
    try {
      for (String line : Files.readAllLines(STATUS)) {
        if (line.startsWith(RESIDENT)) {
          return Long.parseLong(line.replaceAll("\\D", "")) * 1024;
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    throw new IllegalStateException("no " + RESIDENT + " in " + STATUS);
  }
}
