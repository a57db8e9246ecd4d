package dev.ashlar.gateway.access.policy.condition;

import dev.ashlar.gateway.access.policy.value.CodePoints;
import dev.ashlar.gateway.access.policy.value.RequestValues;
import java.util.List;

/** One key of one operator: all conditions of a statement have to hold. */
public final class Condition {
  private final Operator operator;
  private final Quantifier quantifier;
  private final boolean isIfExists;
  private final String key;
  private final List<Expected> expected;

  Condition(
      Operator operator,
      Quantifier quantifier,
      boolean isIfExists,
      String key,
      List<Expected> expected) {
    this.operator = operator;
    this.quantifier = quantifier;
    this.isIfExists = isIfExists;
    this.key = key;
    this.expected = List.copyOf(expected);
  }

  public boolean holds(RequestValues request) {
    List<CodePoints> values = request.of(key);
    if (operator == Operator.NULL) {
      return holdsForAbsence(values.isEmpty(), request);
    }
    if (isIfExists && values.isEmpty()) {
      return true;
    }
    return switch (quantifier) {
      case NONE -> operator.isNegated() != anyMatches(values, request);
      case ALL -> isEmptySet(values) || allHold(values, request);
      case ANY -> !isEmptySet(values) && anyHolds(values, request);
    };
  }

  private boolean holdsForAbsence(boolean isAbsent, RequestValues request) {
    CodePoints absence = CodePoints.of(Boolean.toString(isAbsent));
    return expected.stream().anyMatch(value -> value.matches(absence, request));
  }

  /** AWS: to the set operators, a key whose value is an empty text has no value. */
  private static boolean isEmptySet(List<CodePoints> values) {
    return values.stream().allMatch(value -> value.text().isEmpty());
  }

  private boolean anyMatches(List<CodePoints> values, RequestValues request) {
    for (CodePoints value : values) {
      if (matches(value, request)) {
        return true;
      }
    }
    return false;
  }

  private boolean allHold(List<CodePoints> values, RequestValues request) {
    for (CodePoints value : values) {
      if (operator.isNegated() == matches(value, request)) {
        return false;
      }
    }
    return true;
  }

  private boolean anyHolds(List<CodePoints> values, RequestValues request) {
    for (CodePoints value : values) {
      if (operator.isNegated() != matches(value, request)) {
        return true;
      }
    }
    return false;
  }

  private boolean matches(CodePoints value, RequestValues request) {
    for (Expected candidate : expected) {
      if (candidate.matches(value, request)) {
        return true;
      }
    }
    return false;
  }

  /** Whether only requests hold that have this key, and one of these values of it. */
  boolean requiresKey() {
    return !operator.isNegated()
        && operator != Operator.NULL
        && !isIfExists
        && quantifier != Quantifier.ALL;
  }

  String key() {
    return key;
  }

  List<Expected> expected() {
    return expected;
  }
}
