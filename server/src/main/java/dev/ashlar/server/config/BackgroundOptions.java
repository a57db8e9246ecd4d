package dev.ashlar.server.config;

import static dev.ashlar.server.config.OptionTypes.require;

import dev.ashlar.blob.context.ByteRateLimiter;
import dev.ashlar.blob.repair.RepairRates;
import dev.ashlar.gateway.lifecycle.LifecycleCalendar;
import dev.ashlar.storage.drive.scrub.ScrubConfig;
import java.time.Duration;
import picocli.CommandLine.Option;

/** Pace of repair, rebalancing, scrubs, lifecycle rules and access logs. */
public final class BackgroundOptions {
  private static final long REAL_DAY_SECONDS = 86_400;

  @Option(
      names = "--repair-rate",
      paramLabel = "BYTES",
      converter = OptionTypes.Bytes.class,
      defaultValue = "64MiB",
      description =
          "Maximum bytes per second that repair reads, such as 50MiB. 0: unlimited. One gateway of"
              + " a cluster repairs.")
  private long repairBytesPerSecond;

  @Option(
      names = "--rebalance-rate",
      paramLabel = "BYTES",
      converter = OptionTypes.Bytes.class,
      defaultValue = "64MiB",
      description =
          "Maximum bytes per second read to move shards for drains and new drives, and objects to"
              + " other profiles. 0: unlimited.")
  private long moveBytesPerSecond;

  @Option(
      names = "--scrub-period",
      paramLabel = "DAYS",
      defaultValue = "28",
      description = "Each drive reads and verifies all its data once in this time. 0: on request.")
  private int scrubDays;

  @Option(
      names = "--scrub-rate",
      paramLabel = "BYTES",
      converter = OptionTypes.Bytes.class,
      defaultValue = "32MiB",
      description = "Maximum bytes per second that each drive reads for a scrub. 0: unlimited.")
  private long scrubBytesPerSecond;

  @Option(
      names = "--light-scrub-period",
      paramLabel = "HOURS",
      defaultValue = "24",
      description =
          "Interval between comparisons of each drive's index with metadata. 0: on request.")
  private int lightScrubHours;

  @Option(
      names = "--lifecycle-rate",
      paramLabel = "VERSIONS",
      defaultValue = "20000",
      description =
          "Maximum versions per second that lifecycle scans look at. A deletion counts as 8. 0:"
              + " unlimited. One gateway of a cluster scans.")
  private long lifecycleVersionsPerSecond;

  @Option(
      names = "--lifecycle-day",
      paramLabel = "SECONDS",
      defaultValue = "86400",
      description =
          "Length of a day of lifecycle rules, for tests: objects expire after so many seconds"
              + " instead of a day. Less than 86400 is refused unless --listen has loopback"
              + " addresses only. Dates in answers stay those of real days.")
  private long lifecycleDaySeconds;

  @Option(
      names = "--access-log-interval",
      paramLabel = "SECONDS",
      defaultValue = "300",
      description =
          "Interval at which access logs of buckets are delivered into their target buckets, at most"
              + " 900. More than 1 MiB is delivered at once.")
  private int accessLogSeconds;

  void check() {
    require(
        accessLogSeconds >= 1 && accessLogSeconds <= 900,
        "--access-log-interval takes 1 to 900, not %s",
        accessLogSeconds);
    require(
        scrubDays >= 0 && lightScrubHours >= 0,
        "--scrub-period and --light-scrub-period take 0 or more");
    require(lifecycleVersionsPerSecond >= 0, "--lifecycle-rate takes 0 or more");
    require(
        lifecycleDaySeconds >= 1 && lifecycleDaySeconds <= REAL_DAY_SECONDS,
        "--lifecycle-day takes 1 to %s",
        REAL_DAY_SECONDS);
    checkRate("--scrub-rate", scrubBytesPerSecond);
    checkRate("--repair-rate", repairBytesPerSecond);
    checkRate("--rebalance-rate", moveBytesPerSecond);
  }

  private static void checkRate(String option, long bytes) {
    require(bytes >= 0, "%s takes bytes, not %s", option, bytes);
  }

  /** New limits of what repair and moves read. */
  public RepairRates repairRates() {
    return new RepairRates(
        new ByteRateLimiter(repairBytesPerSecond), new ByteRateLimiter(moveBytesPerSecond));
  }

  /** New limit of the versions that lifecycle scans look at. */
  public ByteRateLimiter lifecycleRate() {
    return new ByteRateLimiter(lifecycleVersionsPerSecond);
  }

  /** The days that lifecycle rules count. */
  public LifecycleCalendar lifecycleCalendar() {
    return new LifecycleCalendar(lifecycleDaySeconds * 1000);
  }

  /** Whether days are shorter than real ones, so that objects expire too early. */
  boolean hasShortDays() {
    return lifecycleDaySeconds < REAL_DAY_SECONDS;
  }

  /** How a drive is scrubbed. */
  public ScrubConfig scrub() {
    return new ScrubConfig(
        scrubDays == 0 ? ScrubConfig.WHEN_ASKED : Duration.ofDays(scrubDays), scrubBytesPerSecond);
  }

  /** Longest time that lines of access logs wait for their delivery. */
  public Duration accessLogInterval() {
    return Duration.ofSeconds(accessLogSeconds);
  }

  /** Interval of comparisons with metadata. */
  public Duration lightScrubPeriod() {
    return lightScrubHours == 0 ? ScrubConfig.WHEN_ASKED : Duration.ofHours(lightScrubHours);
  }
}
