package dev.ashlar.server.config;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How large the parts of a process are, by what it may use of its machine. {@code
 * docs/operate/sizing.md} explains the model. Heap and direct memory are chosen before Java starts,
 * by {@code jvm-sizes}.
 *
 * @param eventLoops threads for the connections of a port
 * @param driveReads at a time, of each drive
 * @param metadataReads at a time, of those that wait for a drive
 * @param blockCacheBytes for what RocksDB has read and not written yet
 * @param writeBufferBytes for what it has not written yet, of the block cache
 * @param connections of clients to the S3 port
 * @param openFiles that drives and connections share
 */
public record Sizes(
    Machine machine,
    int eventLoops,
    int driveReads,
    int metadataReads,
    long blockCacheBytes,
    long writeBufferBytes,
    int connections,
    long openFiles) {
  private static final Logger LOG = LoggerFactory.getLogger(Sizes.class);
  private static final int MIB = 1 << 20;

  /** Set by {@code jvm-sizes}: which sizes it has derived. */
  public static final String DERIVED_PROPERTY = "ashlar.derived";

  /** The default of the options for sizes. */
  private static final String NOT_GIVEN = "0";

  /** A read waits for its drive for about as long as four others need of a processor. */
  private static final int READS_PER_PROCESSOR = 4;

  /** Of the open files: half, because drives take at most the other half. */
  private static final int CONNECTIONS_SHARE = 2;

  /** Of the memory. */
  private static final int BLOCK_CACHE_SHARE = 64;

  /** Of the block cache. */
  private static final int WRITE_BUFFER_SHARE = 8;

  /** Code, classes, threads and what the allocator keeps, beside heap, direct memory and cache. */
  private static final long OTHER_BYTES = 192L * MIB;

  /**
   * What the options say, and for the rest what follows from the machine.
   *
   * @param drives of this process
   */
  static Sizes of(Machine machine, SizeOptions options, int drives) {
    int processors = machine.processors();
    int reads = READS_PER_PROCESSOR * processors / Math.max(1, drives);
    long cache =
        options.blockCacheBytes() > 0
            ? options.blockCacheBytes()
            : Math.clamp(machine.memoryBytes() / BLOCK_CACHE_SHARE, 64L * MIB, 4096L * MIB);
    long files =
        options.openFiles() > 0
            ? Math.min(options.openFiles(), machine.openFiles())
            : machine.openFiles();
    return new Sizes(
        machine,
        given(options.eventLoops(), processors),
        given(options.driveReads(), Math.clamp(reads, 8, 64)),
        given(options.metadataReads(), Math.clamp(processors, 4, 32)),
        cache,
        Math.min(cache / 2, Math.clamp(cache / WRITE_BUFFER_SHARE, 32L * MIB, 256L * MIB)),
        given(options.connections(), Math.clamp(files / CONNECTIONS_SHARE, 64, 65_536)),
        files);
  }

  private static int given(int option, int derived) {
    return option > 0 ? option : derived;
  }

  /**
   * The machine and the memory of this process, and what the options came to, with the values that
   * were derived.
   *
   * @param options as they were given
   * @param environment of this process
   */
  List<Setting> settings(List<Setting> options, Map<String, String> environment) {
    List<Setting> settings = new ArrayList<>();
    settings.add(new Setting("processors", "" + machine.processors(), Setting.MACHINE));
    settings.add(new Setting("memory", mib(machine.memoryBytes()), Setting.MACHINE));
    settings.add(java("heap", "ASHLAR_HEAP", machine.heapBytes(), environment));
    settings.add(java("direct memory", "ASHLAR_DIRECT_MEMORY", machine.directBytes(), environment));
    Map<String, String> sizes = byOption();
    for (Setting option : options) {
      String size = sizes.get(option.name());
      settings.add(
          size != null && option.value().equals(NOT_GIVEN)
              ? new Setting(option.name(), size, Setting.DERIVED)
              : option);
    }
    return settings;
  }

  /** A size that was chosen when Java was started. */
  private static Setting java(
      String name, String variable, long bytes, Map<String, String> environment) {
    List<String> derived = List.of(System.getProperty(DERIVED_PROPERTY, "").split(",", -1));
    String from =
        derived.contains(name.split(" ", 2)[0])
            ? Setting.DERIVED
            : environment.containsKey(variable)
                ? OptionSources.inEnvironment(variable)
                : "flags of Java";
    return new Setting(name, mib(bytes), from);
  }

  /** The values of the options for sizes, by name. */
  private Map<String, String> byOption() {
    Map<String, String> values = new LinkedHashMap<>();
    values.put("--event-loops", "" + eventLoops);
    values.put("--drive-reads", "" + driveReads);
    values.put("--metadata-reads", "" + metadataReads);
    values.put("--block-cache", mib(blockCacheBytes));
    values.put("--connections", "" + connections);
    values.put("--open-files", "" + openFiles);
    return values;
  }

  /** For the start message. */
  public String told() {
    return "heap %s, direct memory %s, block cache %s; %s processor(s), %s of memory"
        .formatted(
            mib(machine.heapBytes()),
            mib(machine.directBytes()),
            mib(blockCacheBytes),
            machine.processors(),
            mib(machine.memoryBytes()));
  }

  /** Warns of sizes that are more than there is: the kernel would end the process. */
  public void warnIfTooLarge() {
    long all = machine.heapBytes() + machine.directBytes() + blockCacheBytes + OTHER_BYTES;
    if (all > machine.memoryBytes()) {
      LOG.warn(
          "This process may need {}, but has {} of memory: the kernel may end it. Set ASHLAR_HEAP,"
              + " ASHLAR_DIRECT_MEMORY or --block-cache lower, or give it more.",
          mib(all),
          mib(machine.memoryBytes()));
    }
  }

  /** With the unit that the options take. */
  static String mib(long bytes) {
    return bytes / MIB + "MiB";
  }
}
