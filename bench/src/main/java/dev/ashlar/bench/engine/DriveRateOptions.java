package dev.ashlar.bench.engine;

import dev.ashlar.bench.SizeArgument;
import dev.ashlar.bench.options.CountArgument;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** What each drive does at most, so that drives are the limit and not this machine. */
public final class DriveRateOptions {
  @Option(
      names = "--drive-iops",
      paramLabel = "N",
      converter = CountArgument.class,
      description =
          "Each drive does one read or write after the other, at most N a second, and none of them"
              + " comes from memory; its index and metadata are as fast as they can (default: all"
              + " is).")
  private @Nullable Integer iosPerSecond;

  @Option(
      names = "--drive-throughput",
      paramLabel = "BYTES",
      converter = SizeArgument.class,
      defaultValue = "128MiB",
      description = "With --drive-iops: what each reads and writes a second (default: 128MiB).")
  private long bytesPerSecond;

  long bytesPerSecond() {
    return bytesPerSecond;
  }

  /** Null where it is not bounded. */
  @Nullable DriveRate ofADrive() {
    return iosPerSecond == null ? null : new DriveRate(iosPerSecond, bytesPerSecond);
  }

  /** Behind "drives"; empty where it is not bounded. */
  String text() {
    DriveRate rate = ofADrive();
    return rate == null
        ? ""
        : String.format(
            Locale.ROOT,
            " of %,d I/Os and %,d MiB a second",
            rate.iosPerSecond(),
            rate.bytesPerSecond() >> 20);
  }
}
