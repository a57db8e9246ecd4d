package dev.ashlar.bench.load;

import dev.ashlar.bench.options.Arguments;
import dev.ashlar.bench.options.Options;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** What is there to be read and changed, and by which requests. */
public final class LoadOptions {
  @Option(
      names = "--objects",
      paramLabel = "N",
      converter = Arguments.Count.class,
      description = "Number of objects to prepare.")
  private @Nullable Integer objects;

  @Option(
      names = "--object-size",
      paramLabel = "BYTES",
      converter = Arguments.Size.class,
      description = "Size of each object, for example 4MiB.")
  private @Nullable Long objectBytes;

  @Option(
      names = "--block-size",
      paramLabel = "BYTES",
      converter = Arguments.Size.class,
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
          "Requests in flight per client, each on its own connection, 1 to 256 (default: 4).")
  private int depth = 4;

  @Mixin private Options.Seed seed = new Options.Seed();

  public long seed() {
    return seed.seed();
  }

  /** Objects for this load; a command's own numbers stand in its description. */
  public DataSet data(Load load, int presetObjects, long presetBytes) {
    DataSet data =
        new DataSet(
            objects == null ? presetObjects : objects,
            objectBytes == null ? presetBytes : objectBytes);
    data.requireRoomFor(load);
    return data;
  }

  /**
   * @param operations 0: time decides
   */
  public Load load(
      String mix,
      boolean isRandom,
      double rate,
      double warmUpSeconds,
      double seconds,
      long operations) {
    return new Load(
        Mix.parse(mix),
        blockBytes,
        isRandom,
        clients,
        depth,
        rate,
        warmUpSeconds,
        seconds,
        seed(),
        operations);
  }
}
