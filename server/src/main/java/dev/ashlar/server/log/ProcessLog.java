package dev.ashlar.server.log;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.ConsoleAppender;
import dev.ashlar.server.config.LogOptions;
import org.slf4j.LoggerFactory;

/** Sets the log of the process up as its options say; until then it is as in logback.xml. */
public final class ProcessLog {
  private static final String APPENDER = "STDERR";

  private ProcessLog() {}

  public static void use(LogOptions options) {
    LoggerContext context = (LoggerContext) LoggerFactory.getILoggerFactory();
    Logger root = context.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
    root.setLevel(Level.valueOf(options.level().name()));
    if (options.format() == LogOptions.Format.JSON
        && root.getAppender(APPENDER) instanceof ConsoleAppender<ILoggingEvent> appender) {
      JsonEncoder encoder = new JsonEncoder();
      encoder.setContext(context);
      encoder.start();
      appender.setEncoder(encoder);
    }
  }
}
