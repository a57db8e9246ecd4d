package dev.ashlar.gateway.access.policy.value;

/** A text and its Unicode characters. Patterns compare characters, so that ? is one of them. */
public final class CodePoints {
  private final String text;
  private final int[] values;

  private CodePoints(String text) {
    this.text = text;
    this.values = text.codePoints().toArray();
  }

  public static CodePoints of(String text) {
    return new CodePoints(text);
  }

  public String text() {
    return text;
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
