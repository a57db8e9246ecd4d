package dev.ashlar.server.config;

import static dev.ashlar.server.config.OptionTypes.require;

import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Option;

/** Sizes that follow the machine unless they are given; 0 is not given. */
public final class SizeOptions {
  private static final int THREADS_MAX = 1024;
  private static final long CACHE_MIN = 16 << 20;

  @Option(
      names = "--event-loops",
      paramLabel = "COUNT",
      defaultValue = "0",
      showDefaultValue = Visibility.NEVER,
      description = "Threads that move bytes to and from connections. Default: one per processor.")
  private int eventLoops;

  @Option(
      names = "--drive-reads",
      paramLabel = "COUNT",
      defaultValue = "0",
      showDefaultValue = Visibility.NEVER,
      description =
          "Reads that each drive serves at a time. Default: four per processor, shared by the"
              + " drives; at least 8 and at most 64.")
  private int driveReads;

  @Option(
      names = "--metadata-reads",
      paramLabel = "COUNT",
      defaultValue = "0",
      showDefaultValue = Visibility.NEVER,
      description =
          "Reads of metadata from its drives at a time. Default: one per processor; at least 4 and"
              + " at most 32.")
  private int metadataReads;

  @Option(
      names = "--block-cache",
      paramLabel = "BYTES",
      converter = OptionTypes.Bytes.class,
      defaultValue = "0",
      showDefaultValue = Visibility.NEVER,
      description =
          "Memory for what the indexes of drives and the tables of metadata have read and not"
              + " written yet. Default: 1/64 of the memory; at least 64MiB and at most 4GiB.")
  private long blockCacheBytes;

  @Option(
      names = "--connections",
      paramLabel = "COUNT",
      defaultValue = "0",
      showDefaultValue = Visibility.NEVER,
      description =
          "Connections of clients to the S3 port at a time; further ones are closed. Default: half of"
              + " the open files; at most 65536.")
  private int connections;

  @Option(
      names = "--open-files",
      paramLabel = "COUNT",
      defaultValue = "0",
      showDefaultValue = Visibility.NEVER,
      description =
          "Files, with sockets, of which drives take at most half. Default: the hard limit (ulimit"
              + " -Hn).")
  private long openFiles;

  void check() {
    checkThreads("--event-loops", eventLoops);
    checkThreads("--drive-reads", driveReads);
    checkThreads("--metadata-reads", metadataReads);
    require(
        blockCacheBytes == 0 || blockCacheBytes >= CACHE_MIN,
        "--block-cache takes at least 16MiB, not %s bytes",
        blockCacheBytes);
    require(connections >= 0, "--connections takes a number, not %s", connections);
    require(openFiles >= 0, "--open-files takes a number of files, not %s", openFiles);
  }

  private static void checkThreads(String option, int count) {
    require(
        count >= 0 && count <= THREADS_MAX, "%s takes 1 to %s, not %s", option, THREADS_MAX, count);
  }

  int eventLoops() {
    return eventLoops;
  }

  int driveReads() {
    return driveReads;
  }

  int metadataReads() {
    return metadataReads;
  }

  long blockCacheBytes() {
    return blockCacheBytes;
  }

  int connections() {
    return connections;
  }

  long openFiles() {
    return openFiles;
  }
}
