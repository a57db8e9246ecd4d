package dev.ashlar.protocol.model;

import java.math.BigDecimal;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Parses sizes in bytes: {@code 4096}, {@code 16KiB}, {@code 7.68TB}; decimals are cut. */
public final class ByteSize {
  private static final Map<String, Long> UNITS =
      Map.ofEntries(
          Map.entry("", 1L),
          Map.entry("b", 1L),
          Map.entry("kb", 1_000L),
          Map.entry("mb", 1_000_000L),
          Map.entry("gb", 1_000_000_000L),
          Map.entry("tb", 1_000_000_000_000L),
          Map.entry("kib", 1L << 10),
          Map.entry("mib", 1L << 20),
          Map.entry("gib", 1L << 30),
          Map.entry("tib", 1L << 40));

  private ByteSize() {}

  /**
   * @throws IllegalArgumentException when the text is malformed, negative or too large
   */
  public static long parse(String text) {
    String number = text.strip();
    int end = number.length();
    while (end > 0 && !Character.isDigit(number.charAt(end - 1))) {
      end--;
    }
    Long unit = UNITS.get(number.substring(end).strip().toLowerCase(Locale.ROOT));
    if (unit == null || end == 0 || number.startsWith("-")) {
      throw wrong(text, null);
    }
    try {
      return new BigDecimal(number.substring(0, end))
          .multiply(BigDecimal.valueOf(unit))
          .toBigInteger()
          .longValueExact();
    } catch (ArithmeticException | NumberFormatException e) {
      throw wrong(text, e);
    }
  }

  private static IllegalArgumentException wrong(String text, @Nullable Throwable cause) {
    return new IllegalArgumentException(
        "'" + text + "' is not a size like 4096, 16KiB or 7.68TB", cause);
  }
}
