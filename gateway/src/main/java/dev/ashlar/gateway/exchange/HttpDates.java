package dev.ashlar.gateway.exchange;

import io.netty.handler.codec.DateFormatter;
import java.util.Date;

/** Times as headers of HTTP write them, in whole seconds. */
public final class HttpDates {
  private HttpDates() {}

  /** Like {@code Wed, 12 Oct 2009 17:50:00 GMT}. */
  @SuppressWarnings("JavaUtilDate") // the type that Netty's formatter takes
  public static String of(long epochMillis) {
    return DateFormatter.format(new Date(epochMillis));
  }
}
