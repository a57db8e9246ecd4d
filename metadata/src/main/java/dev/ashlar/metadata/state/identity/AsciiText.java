package dev.ashlar.metadata.state.identity;

/**
 * Checks and folds of text. They concern ASCII only: Unicode's tables differ between Java versions,
 * and all peers have to come to the same rows.
 */
final class AsciiText {
  private AsciiText() {}

  /** Names and e-mails that differ in the case of ASCII letters only are the same. */
  static String lowerCase(String text) {
    StringBuilder lower = new StringBuilder(text.length());
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      lower.append(c >= 'A' && c <= 'Z' ? (char) (c + ('a' - 'A')) : c);
    }
    return lower.toString();
  }

  static boolean isLetterOrDigit(int c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  }

  static boolean isDigit(int c) {
    return c >= '0' && c <= '9';
  }

  /** Visible characters, without space. */
  static boolean isVisible(int c) {
    return c > ' ' && c < 0x7F;
  }

  /** Text of names: no control characters. */
  static boolean isPrintable(String text) {
    return text.chars().allMatch(c -> c >= ' ' && c != 0x7F);
  }

  static boolean hasLength(String text, int min, int max) {
    return text.length() >= min && text.length() <= max;
  }
}
