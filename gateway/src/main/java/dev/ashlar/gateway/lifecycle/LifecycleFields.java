package dev.ashlar.gateway.lifecycle;

import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.xml.XmlReader.Element;
import java.time.DateTimeException;
import java.time.LocalDate;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.HashSet;
import java.util.Set;
import java.util.regex.Pattern;

/** Reads single fields of rules. */
final class LifecycleFields {
  private static final int NEWER_MAX = 100;
  private static final int YEAR_MAX = 9999;
  private static final Pattern NUMBER = Pattern.compile("-?[0-9]{1,18}");
  private static final Pattern DAY = Pattern.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}");

  private LifecycleFields() {}

  /** Refuses children with other names than these, and those that come twice. */
  static void require(Element element, Set<String> names) throws S3Exception {
    Set<String> seen = new HashSet<>();
    for (Element child : element.children()) {
      if (!names.contains(child.name()) || !seen.add(child.name())) {
        throw malformed();
      }
    }
  }

  private static S3Exception malformed() {
    return new S3Exception(S3Error.MALFORMED_XML);
  }

  /** A number of at most 18 digits. */
  static long number(String text) throws S3Exception {
    String trimmed = text.trim();
    if (!NUMBER.matcher(trimmed).matches()) {
      throw malformed();
    }
    return Long.parseLong(trimmed);
  }

  /**
   * @param min 0 or 1
   */
  static int days(String text, String field, int min, String action) throws S3Exception {
    long days = number(text);
    if (days > Integer.MAX_VALUE) {
      throw malformed();
    }
    if (days < min) {
      throw S3Exception.invalidArgument(
          "'%s' for %s action must be a %s integer"
              .formatted(field, action, min == 0 ? "nonnegative" : "positive"),
          field,
          text.trim());
    }
    return (int) days;
  }

  /** NewerNoncurrentVersions, from 1 to 100; 0: not there. */
  static int newerKept(Element element, String action) throws S3Exception {
    String text = element.childText("NewerNoncurrentVersions");
    if (text == null) {
      return 0;
    }
    long number = number(text);
    if (number < 1 || number > NEWER_MAX) {
      throw S3Exception.invalidArgument(
          "'NewerNoncurrentVersions' for %s action must be an integer from 1 to %d"
              .formatted(action, NEWER_MAX),
          "NewerNoncurrentVersions",
          text.trim());
    }
    return (int) number;
  }

  /** A midnight in UTC, in milliseconds since 1970. */
  static long date(String text) throws S3Exception {
    String trimmed = text.trim();
    try {
      OffsetDateTime time =
          DAY.matcher(trimmed).matches()
              ? LocalDate.parse(trimmed).atStartOfDay().atOffset(ZoneOffset.UTC)
              : OffsetDateTime.parse(trimmed).withOffsetSameInstant(ZoneOffset.UTC);
      if (time.getYear() < 0 || time.getYear() > YEAR_MAX) {
        throw malformed();
      }
      if (!time.toLocalTime().equals(LocalTime.MIDNIGHT)) {
        throw S3Exception.invalidArgument("'Date' must be at midnight GMT", "Date", trimmed);
      }
      return time.toInstant().toEpochMilli();
    } catch (DateTimeException e) {
      throw malformed();
    }
  }
}
