package dev.ashlar.gateway.cors;

/** A text with at most one asterisk, which stands for any characters. */
record CorsPattern(String text) {
  static final String ANY = "*";

  static boolean isOne(String text) {
    return text.indexOf('*') == text.lastIndexOf('*');
  }

  boolean matches(String other, boolean ignoreCase) {
    int star = text.indexOf('*');
    if (star < 0) {
      return ignoreCase ? text.equalsIgnoreCase(other) : text.equals(other);
    }
    int suffix = text.length() - star - 1;
    return other.length() >= star + suffix
        && other.regionMatches(ignoreCase, 0, text, 0, star)
        && other.regionMatches(ignoreCase, other.length() - suffix, text, star + 1, suffix);
  }
}
