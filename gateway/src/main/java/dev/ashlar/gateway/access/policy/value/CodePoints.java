package dev.ashlar.gateway.access.policy.value;

/** A text and its Unicode characters. Patterns compare characters, so that ? is one of them. */
public final class CodePoints {
  private final String text;
  private final int[] values;

  private CodePoints(String text, int[] values) {
    this.text = text;
    this.values = values;
  }

  public static CodePoints of(String text) {
    return new CodePoints(text, text.codePoints().toArray());
  }

  static CodePoints of(int[] values) {
    return new CodePoints(new String(values, 0, values.length), values);
  }

  public String text() {
    return text;
  }

  /** Whether positions in the text and in the values are the same. */
  boolean hasNoSurrogates() {
    return text.length() == values.length;
  }

  /** Not to be changed. */
  int[] values() {
    return values;
  }

  @Override
  public String toString() {
    return text;
  }
}
