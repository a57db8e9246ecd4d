package dev.ashlar.gateway.s3;

import dev.ashlar.gateway.exchange.HttpDates;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

/** How S3 writes a time. Only the end of a retention has milliseconds. */
public final class S3Dates {
  private static final DateTimeFormatter XML =
      DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss'.000Z'", Locale.US)
          .withZone(ZoneOffset.UTC);

  private static final DateTimeFormatter EXACT =
      DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSS'Z'", Locale.US)
          .withZone(ZoneOffset.UTC);

  private S3Dates() {}

  /** Like {@code Wed, 12 Oct 2009 17:50:00 GMT}. */
  public static String http(long epochMillis) {
    return HttpDates.of(epochMillis);
  }

  /** Like {@code 2009-10-12T17:50:30.000Z}. */
  public static String xml(long epochMillis) {
    return XML.format(Instant.ofEpochMilli(epochMillis));
  }

  /**
   * Like {@code 2009-10-12T17:50:30.123Z}: the end of a retention, which clients wait for. A time
   * without its milliseconds would be too early.
   */
  public static String exact(long epochMillis) {
    return EXACT.format(Instant.ofEpochMilli(epochMillis));
  }

  /** Seconds since 1970, or -1 when the header is no date: then it is as if it were absent. */
  static long parseHttp(String date) {
    try {
      return DateTimeFormatter.RFC_1123_DATE_TIME
          .parse(date.trim(), Instant::from)
          .getEpochSecond();
    } catch (DateTimeException e) {
      return -1;
    }
  }
}
