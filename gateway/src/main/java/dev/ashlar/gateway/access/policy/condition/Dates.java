package dev.ashlar.gateway.access.policy.condition;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Dates as the W3C's note on ISO 8601 has them, from a year to fractions of a second, or seconds
 * since 1970. Four digits are a year.
 */
final class Dates {
  private static final Pattern ISO =
      Pattern.compile(
          "(\\d{4})(?:-(\\d{2})(?:-(\\d{2})"
              + "(?:T(\\d{2}):(\\d{2})(?::(\\d{2})(?:\\.(\\d{1,9})\\d{0,9})?)?"
              + "(Z|[+-]\\d{2}:\\d{2}))?)?)?");

  /** Fourteen digits are beyond the year 9999, and far from an overflow. */
  private static final Pattern EPOCH_SECONDS = Pattern.compile("-?\\d{1,14}");

  private Dates() {}

  static Optional<Instant> parse(String text) {
    Matcher iso = ISO.matcher(text);
    try {
      if (iso.matches()) {
        return Optional.of(instant(iso));
      }
      return EPOCH_SECONDS.matcher(text).matches()
          ? Optional.of(Instant.ofEpochSecond(Long.parseLong(text)))
          : Optional.empty();
    } catch (DateTimeException e) {
      return Optional.empty();
    }
  }

  private static Instant instant(Matcher iso) {
    String zone = iso.group(8);
    return LocalDateTime.of(
            number(iso.group(1), 0),
            number(iso.group(2), 1),
            number(iso.group(3), 1),
            number(iso.group(4), 0),
            number(iso.group(5), 0),
            number(iso.group(6), 0),
            nanoseconds(iso.group(7)))
        .toInstant(zone == null ? ZoneOffset.UTC : ZoneOffset.of(zone));
  }

  private static int number(@Nullable String digits, int otherwise) {
    return digits == null ? otherwise : Integer.parseInt(digits);
  }

  private static int nanoseconds(@Nullable String fraction) {
    return fraction == null ? 0 : Integer.parseInt((fraction + "00000000").substring(0, 9));
  }
}
