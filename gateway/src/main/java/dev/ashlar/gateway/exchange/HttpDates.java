package dev.ashlar.gateway.exchange;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

/** Times as headers of HTTP write them, in whole seconds. */
public final class HttpDates {
  // Not Netty's DateFormatter: it keeps a formatter per thread, and each request has its own.
  private static final DateTimeFormatter FORMAT =
      DateTimeFormatter.ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.US)
          .withZone(ZoneOffset.UTC);

  private HttpDates() {}

  /** Like {@code Wed, 12 Oct 2009 17:50:00 GMT}. */
  public static String of(long epochMillis) {
    return FORMAT.format(Instant.ofEpochMilli(epochMillis));
  }
}
