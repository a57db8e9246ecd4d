package dev.ashlar.gateway.exchange;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

/** Times as headers of HTTP write them, in whole seconds. */
public final class HttpDates {
  private static final DateTimeFormatter FORMAT =
      DateTimeFormatter.ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.ROOT)
          .withZone(ZoneOffset.UTC);

  private HttpDates() {}

  /** Like {@code Wed, 12 Oct 2009 17:50:00 GMT}. */
  public static String of(long epochMillis) {
    return FORMAT.format(Instant.ofEpochMilli(epochMillis));
  }
}
