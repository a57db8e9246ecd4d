package dev.ashlar.protocol.process;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.slf4j.Marker;
import org.slf4j.event.Level;
import org.slf4j.helpers.LegacyAbstractLogger;
import org.slf4j.helpers.MessageFormatter;

class RateLimitedLogTest {
  private final Lines lines = new Lines();
  private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 5);
  private final RateLimitedLog log = new RateLimitedLog(lines, Level.WARN, nanos::get);

  /** Keeps what is logged. */
  private static final class Lines extends LegacyAbstractLogger {
    private static final long serialVersionUID = 1;

    final transient List<String> said = new ArrayList<>();

    @Override
    protected @Nullable String getFullyQualifiedCallerName() {
      return null;
    }

    @Override
    protected void handleNormalizedLoggingCall(
        Level level,
        @Nullable Marker marker,
        String message,
        Object @Nullable [] arguments,
        @Nullable Throwable thrown) {
      String text = MessageFormatter.basicArrayFormat(message, arguments);
      said.add(level + " " + text + (thrown == null ? "" : " " + thrown.getMessage()));
    }

    @Override
    public boolean isTraceEnabled() {
      return true;
    }

    @Override
    public boolean isDebugEnabled() {
      return true;
    }

    @Override
    public boolean isInfoEnabled() {
      return true;
    }

    @Override
    public boolean isWarnEnabled() {
      return true;
    }

    @Override
    public boolean isErrorEnabled() {
      return true;
    }
  }

  private void pass(Duration time) {
    nanos.addAndGet(time.toNanos());
  }

  @Test
  void theFirstEventIsLoggedAndOthersOfThePeriodAreCounted() {
    for (int i = 0; i < 1000; i++) {
      log.log("event " + i);
    }
    assertEquals(List.of("WARN event 0"), lines.said);
    pass(Duration.ofSeconds(10));
    log.log("event");
    pass(Duration.ofSeconds(10));
    log.log("event");
    assertEquals(
        List.of("WARN event 0", "WARN event (and 999 similar events before)", "WARN event"),
        lines.said);
    assertEquals(3, log.logged());
  }

  @Test
  void theStackTraceGoesWithTheLine() {
    log.log("failed", new IllegalStateException("why"));
    assertEquals(List.of("WARN failed why"), lines.said);
  }

  @Test
  void bracesInAMessageMeanNothing() {
    log.log("key {} and {}");
    assertEquals(List.of("WARN key {} and {}"), lines.said);
  }
}
