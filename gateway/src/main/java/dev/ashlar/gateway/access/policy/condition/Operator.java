package dev.ashlar.gateway.access.policy.condition;

import java.util.Arrays;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The operators of conditions, without their prefix and their suffix. */
enum Operator {
  STRING_EQUALS("StringEquals", Comparison.STRING, Order.EQUAL, false),
  STRING_NOT_EQUALS("StringNotEquals", Comparison.STRING, Order.EQUAL, true),
  STRING_EQUALS_IGNORE_CASE(
      "StringEqualsIgnoreCase", Comparison.STRING_IGNORING_CASE, Order.EQUAL, false),
  STRING_NOT_EQUALS_IGNORE_CASE(
      "StringNotEqualsIgnoreCase", Comparison.STRING_IGNORING_CASE, Order.EQUAL, true),
  STRING_LIKE("StringLike", Comparison.STRING_PATTERN, Order.EQUAL, false),
  STRING_NOT_LIKE("StringNotLike", Comparison.STRING_PATTERN, Order.EQUAL, true),
  NUMERIC_EQUALS("NumericEquals", Comparison.NUMBER, Order.EQUAL, false),
  NUMERIC_NOT_EQUALS("NumericNotEquals", Comparison.NUMBER, Order.EQUAL, true),
  NUMERIC_LESS_THAN("NumericLessThan", Comparison.NUMBER, Order.LESS, false),
  NUMERIC_LESS_THAN_EQUALS("NumericLessThanEquals", Comparison.NUMBER, Order.LESS_OR_EQUAL, false),
  NUMERIC_GREATER_THAN("NumericGreaterThan", Comparison.NUMBER, Order.GREATER, false),
  NUMERIC_GREATER_THAN_EQUALS(
      "NumericGreaterThanEquals", Comparison.NUMBER, Order.GREATER_OR_EQUAL, false),
  DATE_EQUALS("DateEquals", Comparison.DATE, Order.EQUAL, false),
  DATE_NOT_EQUALS("DateNotEquals", Comparison.DATE, Order.EQUAL, true),
  DATE_LESS_THAN("DateLessThan", Comparison.DATE, Order.LESS, false),
  DATE_LESS_THAN_EQUALS("DateLessThanEquals", Comparison.DATE, Order.LESS_OR_EQUAL, false),
  DATE_GREATER_THAN("DateGreaterThan", Comparison.DATE, Order.GREATER, false),
  DATE_GREATER_THAN_EQUALS("DateGreaterThanEquals", Comparison.DATE, Order.GREATER_OR_EQUAL, false),
  BOOL("Bool", Comparison.BOOLEAN, Order.EQUAL, false),
  BINARY_EQUALS("BinaryEquals", Comparison.BINARY, Order.EQUAL, false),
  IP_ADDRESS("IpAddress", Comparison.IP_RANGE, Order.EQUAL, false),
  NOT_IP_ADDRESS("NotIpAddress", Comparison.IP_RANGE, Order.EQUAL, true),
  // AWS documents that ArnEquals has wildcards, too, and is the same as ArnLike.
  ARN_EQUALS("ArnEquals", Comparison.ARN, Order.EQUAL, false),
  ARN_LIKE("ArnLike", Comparison.ARN, Order.EQUAL, false),
  ARN_NOT_EQUALS("ArnNotEquals", Comparison.ARN, Order.EQUAL, true),
  ARN_NOT_LIKE("ArnNotLike", Comparison.ARN, Order.EQUAL, true),
  NULL("Null", Comparison.ABSENCE, Order.EQUAL, false);

  /** What is compared. */
  enum Comparison {
    STRING,
    STRING_IGNORING_CASE,
    STRING_PATTERN,
    NUMBER,
    DATE,
    BOOLEAN,
    BINARY,
    IP_RANGE,
    ARN,
    ABSENCE
  }

  /** How the value of the request has to lie to that of the policy. */
  enum Order {
    EQUAL,
    LESS,
    LESS_OR_EQUAL,
    GREATER,
    GREATER_OR_EQUAL;

    <T extends Comparable<T>> boolean holds(T value, T limit) {
      int order = value.compareTo(limit);
      return switch (this) {
        case EQUAL -> order == 0;
        case LESS -> order < 0;
        case LESS_OR_EQUAL -> order <= 0;
        case GREATER -> order > 0;
        case GREATER_OR_EQUAL -> order >= 0;
      };
    }
  }

  private static final Map<String, Operator> BY_NAME =
      Arrays.stream(values())
          .collect(Collectors.toUnmodifiableMap(o -> o.text, Function.identity()));

  private final String text;
  private final Comparison comparison;
  private final Order order;
  private final boolean isNegated;

  Operator(String text, Comparison comparison, Order order, boolean isNegated) {
    this.text = text;
    this.comparison = comparison;
    this.order = order;
    this.isNegated = isNegated;
  }

  static @Nullable Operator named(String text) {
    return BY_NAME.get(text);
  }

  Comparison comparison() {
    return comparison;
  }

  Order order() {
    return order;
  }

  boolean isNegated() {
    return isNegated;
  }
}
