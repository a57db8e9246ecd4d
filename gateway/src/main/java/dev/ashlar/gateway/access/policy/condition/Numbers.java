package dev.ashlar.gateway.access.policy.condition;

import java.math.BigDecimal;
import java.util.Optional;
import java.util.regex.Pattern;

/** Decimal numbers of a length that is cheap to compare. */
final class Numbers {
  /** Possessive, and at most two digits of exponent: 1e999999999 is not calculated with. */
  private static final Pattern NUMBER =
      Pattern.compile("[+-]?[0-9]{1,40}+(\\.[0-9]{1,40}+)?+([eE][+-]?[0-9]{1,2})?+");

  private Numbers() {}

  static Optional<BigDecimal> parse(String text) {
    return NUMBER.matcher(text).matches() ? Optional.of(new BigDecimal(text)) : Optional.empty();
  }
}
