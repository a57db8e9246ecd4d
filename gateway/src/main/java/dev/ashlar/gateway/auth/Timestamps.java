package dev.ashlar.gateway.auth;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import org.jspecify.annotations.Nullable;

/** The basic ISO 8601 form of signatures, yyyyMMdd'T'HHmmss'Z'. */
final class Timestamps {
  private static final DateTimeFormatter BASIC =
      DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss'Z'").withZone(ZoneOffset.UTC);
  private static final int LENGTH = 16;

  private Timestamps() {}

  static @Nullable Instant parse(String text) {
    if (text.length() != LENGTH || text.charAt(8) != 'T' || text.charAt(15) != 'Z') {
      return null;
    }
    try {
      return LocalDateTime.of(
              number(text, 0, 4),
              number(text, 4, 6),
              number(text, 6, 8),
              number(text, 9, 11),
              number(text, 11, 13),
              number(text, 13, 15))
          .toInstant(ZoneOffset.UTC);
    } catch (DateTimeException outOfRange) {
      return null;
    }
  }

  /**
   * From a date as HTTP writes it. Its weekday is not looked at, as in S3.
   *
   * @return null for another form, and for times before 1970
   */
  static @Nullable String fromHttpDate(String date) {
    int comma = date.indexOf(',');
    try {
      Instant instant =
          DateTimeFormatter.RFC_1123_DATE_TIME.parse(
              date.substring(comma + 1).stripLeading(), Instant::from);
      return instant.isBefore(Instant.EPOCH) ? null : BASIC.format(instant);
    } catch (DateTimeException malformed) {
      return null;
    }
  }

  private static int number(String text, int start, int end) {
    int number = 0;
    for (int i = start; i < end; i++) {
      int digit = text.charAt(i) - '0';
      if (digit < 0 || digit > 9) {
        throw new DateTimeException("not a digit");
      }
      number = number * 10 + digit;
    }
    return number;
  }
}
