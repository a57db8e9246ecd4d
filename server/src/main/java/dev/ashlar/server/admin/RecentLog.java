package dev.ashlar.server.admin;

import ch.qos.logback.classic.encoder.PatternLayoutEncoder;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Keeps the last lines of the log for {@link Diagnosis}. Logback makes it. */
public final class RecentLog extends AppenderBase<ILoggingEvent> {
  private static final int LINES_MAX = 500;
  private static final int LINE_CHARS_MAX = 4_000;
  private static final Deque<String> LINES = new ArrayDeque<>();

  private @Nullable PatternLayoutEncoder encoder;

  /** Called by Logback with what its configuration names. */
  public void setEncoder(PatternLayoutEncoder encoder) {
    this.encoder = encoder;
  }

  @Override
  protected void append(ILoggingEvent event) {
    PatternLayoutEncoder known = encoder;
    if (known == null) {
      return;
    }
    String line = new String(known.encode(event), StandardCharsets.UTF_8).stripTrailing();
    synchronized (LINES) {
      LINES.add(line.length() > LINE_CHARS_MAX ? line.substring(0, LINE_CHARS_MAX) : line);
      if (LINES.size() > LINES_MAX) {
        LINES.remove();
      }
    }
  }

  /** The last lines, oldest first. */
  static List<String> lines() {
    synchronized (LINES) {
      return List.copyOf(LINES);
    }
  }
}
