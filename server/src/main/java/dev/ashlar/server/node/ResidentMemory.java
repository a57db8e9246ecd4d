package dev.ashlar.server.node;

import dev.ashlar.gateway.http.S3Server;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.LongSupplier;
import org.rocksdb.Cache;

/** Tells what the process' resident memory consists of: {@code ashlar.memory} by {@code part}. */
final class ResidentMemory {
  private static final Path STATUS = Path.of("/proc/self/status");
  private static final String RESIDENT = "VmRSS:";

  private ResidentMemory() {}

  /**
   * @param rocks in which RocksDB has its blocks and memtables; read as long as meters are
   */
  static void measure(Cache rocks, MeterRegistry meters) {
    part("heap", ResidentMemory::heap, meters);
    part("direct", ResidentMemory::direct, meters);
    part("rocksdb", rocks::getUsage, meters);
    if (Files.isReadable(STATUS)) {
      part("other", () -> other(rocks), meters);
      Gauge.builder("ashlar.memory.resident", ResidentMemory::resident)
          .description("Resident memory of the process")
          .baseUnit("bytes")
          .register(meters);
    }
  }

  private static void part(String name, LongSupplier bytes, MeterRegistry meters) {
    Gauge.builder("ashlar.memory", bytes::getAsLong)
        .description("Memory by its use; heap as committed")
        .tag("part", name)
        .baseUnit("bytes")
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
  private static long other(Cache rocks) {
    return Math.max(0, resident() - heap() - direct() - rocks.getUsage());
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
