package dev.ashlar.server.log;

import ch.qos.logback.classic.pattern.ClassicConverter;
import ch.qos.logback.classic.spi.ILoggingEvent;
import dev.ashlar.gateway.http.RequestThread;

/** The id of the request that caused a line, unless its message names it; of logback.xml. */
public final class RequestIdConverter extends ClassicConverter {
  @Override
  public String convert(ILoggingEvent event) {
    String id = RequestThread.requestId(event.getThreadName());
    return id == null || event.getFormattedMessage().contains(id) ? "" : " [" + id + "]";
  }
}
