package dev.ashlar.gateway.accesslog;

import dev.ashlar.gateway.access.BucketLogging;
import dev.ashlar.gateway.access.BucketLogging.KeyFormat;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.HexFormat;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Lines that may be in one object: they are of one bucket and go to the same place.
 *
 * @param bucket whose requests they tell of
 * @param owner of that bucket, its canonical user id
 * @param day of the requests; null: they may be of several days
 */
public record LogStream(
    String bucket, String owner, BucketLogging target, @Nullable LocalDate day) {
  private static final DateTimeFormatter SECOND =
      DateTimeFormatter.ofPattern("uuuu-MM-dd-HH-mm-ss", Locale.ROOT).withZone(ZoneOffset.UTC);
  private static final DateTimeFormatter DAY =
      DateTimeFormatter.ofPattern("uuuu/MM/dd", Locale.ROOT).withZone(ZoneOffset.UTC);

  /** The stream of a request that came at this time. */
  public static LogStream of(String bucket, String owner, BucketLogging target, Instant time) {
    return new LogStream(
        bucket,
        owner,
        target,
        target.keyFormat() == KeyFormat.EVENT_TIME
            ? LocalDate.ofInstant(time, ZoneOffset.UTC)
            : null);
  }

  /**
   * The key of an object.
   *
   * @param account id of the owner's account
   * @param unique tells it from others of the same second
   */
  public String key(String account, String region, Instant delivered, long unique) {
    Instant named = day == null ? delivered : day.atStartOfDay().toInstant(ZoneOffset.UTC);
    String name = SECOND.format(named) + "-" + HexFormat.of().withUpperCase().toHexDigits(unique);
    return switch (target.keyFormat()) {
      case UNSPECIFIED, SIMPLE -> target.prefix() + name;
      case EVENT_TIME, DELIVERY_TIME ->
          target.prefix() + String.join("/", account, region, bucket, DAY.format(named), name);
    };
  }
}
