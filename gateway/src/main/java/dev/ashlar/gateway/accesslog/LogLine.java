package dev.ashlar.gateway.accesslog;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A line of an access log: fields with a space between them. What clients send cannot end a field
 * or the line: quotes, control characters and what is not ASCII are percent-encoded.
 */
public final class LogLine {
  private static final String NONE = "-";
  private static final int CHARACTERS_MAX = 4096;

  /** Of what clients send in headers. */
  private static final int QUOTED_CHARACTERS_MAX = 1024;

  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("'['dd/MMM/uuuu:HH:mm:ss '+0000]'", Locale.ENGLISH)
          .withZone(ZoneOffset.UTC);

  private final StringBuilder out = new StringBuilder(512);

  /**
   * @param text null or empty: none
   */
  public LogLine text(@Nullable String text) {
    next();
    if (text == null || text.isEmpty()) {
      out.append(NONE);
    } else {
      append(text, false);
    }
    return this;
  }

  /** The same in quotes; spaces are as they are. */
  public LogLine quoted(@Nullable String text) {
    next();
    out.append('"');
    append(text == null || text.isEmpty() ? NONE : text, true);
    out.append('"');
    return this;
  }

  public LogLine time(Instant time) {
    next();
    TIME.formatTo(time, out);
    return this;
  }

  /**
   * @param number negative: none
   */
  public LogLine number(long number) {
    next();
    if (number < 0) {
      out.append(NONE);
    } else {
      out.append(number);
    }
    return this;
  }

  /** The whole line with its end. */
  public byte[] end() {
    return out.append('\n').toString().getBytes(StandardCharsets.US_ASCII);
  }

  private void next() {
    if (!out.isEmpty()) {
      out.append(' ');
    }
  }

  private void append(String text, boolean isQuoted) {
    int end = Math.min(text.length(), isQuoted ? QUOTED_CHARACTERS_MAX : CHARACTERS_MAX);
    for (int i = 0; i < end; i++) {
      char c = text.charAt(i);
      if ((c > ' ' && c < 0x7F && c != '"') || (c == ' ' && isQuoted)) {
        out.append(c);
      } else {
        escape(c);
      }
    }
  }

  /** Headers and paths have one char per byte; others are cut to that, which no reader minds. */
  private void escape(char c) {
    out.append('%')
        .append(Character.toUpperCase(Character.forDigit((c >> 4) & 0xF, 16)))
        .append(Character.toUpperCase(Character.forDigit(c & 0xF, 16)));
  }
}
