package dev.ashlar.server.config;

import dev.ashlar.storage.drive.ScrubConfig;
import java.time.Duration;
import picocli.CommandLine.Option;

/** How drives are read through for what is damaged, or lacks. */
public final class ScrubFlags {
  @Option(
      names = "--scrub-period",
      paramLabel = "DAYS",
      defaultValue = "${env:ASHLAR_SCRUB_PERIOD:-28}",
      description =
          "In which each drive reads all that it holds once and verifies it; 0 is only when it is"
              + " asked to.")
  private int periodDays;

  @Option(
      names = "--scrub-rate",
      paramLabel = "BYTES",
      converter = SizeArgument.AsLong.class,
      defaultValue = "${env:ASHLAR_SCRUB_RATE:-32MiB}",
      description =
          "Bytes per second that each drive reads for that at most, as 50MiB; 0 for as many as it"
              + " can.")
  private long bytesPerSecond;

  @Option(
      names = "--light-scrub-period",
      paramLabel = "HOURS",
      defaultValue = "${env:ASHLAR_LIGHT_SCRUB_PERIOD:-24}",
      description =
          "After which what each drive holds is compared with metadata again; 0 is only when it is"
              + " asked to.")
  private int lightHours;

  public ScrubOptions options() {
    return new ScrubOptions(
        periodDays == 0 ? ScrubConfig.WHEN_ASKED : Duration.ofDays(periodDays),
        bytesPerSecond,
        lightHours == 0 ? ScrubConfig.WHEN_ASKED : Duration.ofHours(lightHours));
  }
}
