package dev.ashlar.bench.options;

import dev.ashlar.bench.SizeArgument;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** What is there to be read and changed; a command's own numbers stand in its description. */
public final class ObjectOptions {
  @Option(
      names = "--objects",
      paramLabel = "N",
      converter = CountArgument.class,
      description = "Number of objects to prepare.")
  private @Nullable Integer objects;

  @Option(
      names = "--object-size",
      paramLabel = "BYTES",
      converter = SizeArgument.class,
      description = "Size of each object, for example 4MiB.")
  private @Nullable Long objectBytes;

  public int objects(int preset) {
    return objects == null ? preset : objects;
  }

  public long objectBytes(long preset) {
    return objectBytes == null ? preset : objectBytes;
  }
}
