package dev.ashlar.bench.options;

import dev.ashlar.bench.SizeArgument;
import picocli.CommandLine.Option;

/** Size and number of the requests of a load. */
public final class RequestOptions {
  @Option(
      names = "--block-size",
      paramLabel = "BYTES",
      converter = SizeArgument.class,
      defaultValue = "16KiB",
      description =
          "Size of a read, patch or append. A read of the object's size is a plain GET"
              + " (default: 16KiB).")
  private long blockBytes;

  @Option(
      names = "--clients",
      paramLabel = "N",
      defaultValue = "4",
      description = "Number of clients, 1 to 16 (default: 4).")
  private int clients = 4;

  @Option(
      names = "--depth",
      paramLabel = "N",
      defaultValue = "4",
      description =
          "Requests in flight per client, each on its own connection, 1 to 256" + " (default: 4).")
  private int depth = 4;

  public long blockBytes() {
    return blockBytes;
  }

  public int clients() {
    return clients;
  }

  public int depth() {
    return depth;
  }
}
