package dev.ashlar.metadata.state.object;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Rolls up the keys of a listing that are equal up to the first delimiter after the prefix. */
record KeyGroups(byte[] prefix, byte[] delimiter) {
  KeyGroups(String prefix, String delimiter) {
    this(utf8(prefix), utf8(delimiter));
  }

  /**
   * The length of the text up to and including the first delimiter after the prefix; -1: there is
   * none.
   */
  int commonPrefixLength(byte[] text) {
    if (delimiter.length == 0) {
      return -1;
    }
    for (int i = prefix.length; i + delimiter.length <= text.length; i++) {
      if (Arrays.equals(text, i, i + delimiter.length, delimiter, 0, delimiter.length)) {
        return i + delimiter.length;
      }
    }
    return -1;
  }

  /** Whether this is a common prefix of the listing, rather than a key. */
  boolean isCommonPrefix(byte[] text) {
    return startsWith(text, prefix) && commonPrefixLength(text) == text.length;
  }

  private static boolean startsWith(byte[] text, byte[] start) {
    return text.length >= start.length
        && Arrays.equals(text, 0, start.length, start, 0, start.length);
  }

  static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
