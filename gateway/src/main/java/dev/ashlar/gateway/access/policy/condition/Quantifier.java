package dev.ashlar.gateway.access.policy.condition;

/** How the values of a request are combined when a key can have several. */
enum Quantifier {
  /** No prefix. A negated operator holds if no value of the request matches. */
  NONE(""),
  ALL("ForAllValues:"),
  ANY("ForAnyValue:");

  private final String prefix;

  Quantifier(String prefix) {
    this.prefix = prefix;
  }

  String prefix() {
    return prefix;
  }

  static Quantifier of(String operator) {
    return operator.startsWith(ALL.prefix) ? ALL : operator.startsWith(ANY.prefix) ? ANY : NONE;
  }
}
