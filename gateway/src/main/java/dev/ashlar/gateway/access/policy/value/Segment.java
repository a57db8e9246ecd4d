package dev.ashlar.gateway.access.policy.value;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The part of a pattern between two asterisks: characters and question marks. */
final class Segment {
  /** Up to here, a comparison at each position is cheaper than a table. */
  private static final int SHORT_LENGTH_MAX = 32;

  /** Bounds the memory of the table; only a pattern made for that purpose has more. */
  private static final int TABLE_LONGS_MAX = 16 * 1024;

  private static final long[] NO_TABLE_ROW = new long[0];

  private final int[] tokens;
  private final boolean hasQuestionMark;
  private final @Nullable String shortLiteral;
  private final @Nullable Map<Integer, long[]> table;

  /**
   * @param isSearched whether {@link #find} is used, which long segments need a table for
   */
  Segment(int[] tokens, boolean isSearched) {
    this.tokens = tokens;
    this.hasQuestionMark = Arrays.stream(tokens).anyMatch(token -> token == WildcardPattern.ONE);
    this.shortLiteral =
        isSearched && !hasQuestionMark && tokens.length <= SHORT_LENGTH_MAX
            ? new String(tokens, 0, tokens.length)
            : null;
    this.table = isSearched && tokens.length > SHORT_LENGTH_MAX ? table(tokens) : null;
  }

  int length() {
    return tokens.length;
  }

  /** Whether a search could take time in proportion to the product of both lengths. */
  boolean isTooComplex() {
    return tokens.length > SHORT_LENGTH_MAX && table == null;
  }

  boolean matchesAt(int[] text, int from) {
    if (!hasQuestionMark) {
      return Arrays.equals(tokens, 0, tokens.length, text, from, from + tokens.length);
    }
    for (int i = 0; i < tokens.length; i++) {
      if (tokens[i] != WildcardPattern.ONE && tokens[i] != text[from + i]) {
        return false;
      }
    }
    return true;
  }

  /** The first position between from and to where this segment lies, or -1. */
  int find(CodePoints text, int from, int to) {
    if (table != null) {
      return findByTable(table, text.values(), from, to);
    }
    // The JVM searches a text with vector instructions.
    return shortLiteral != null && text.hasNoSurrogates()
        ? text.text().indexOf(shortLiteral, from, to)
        : findByComparing(text.values(), from, to);
  }

  private int findByComparing(int[] text, int from, int to) {
    for (int at = from; at <= to - tokens.length; at++) {
      if (matchesAt(text, at)) {
        return at;
      }
    }
    return -1;
  }

  /**
   * The Shift-And algorithm: bit i of the state is set when the first i + 1 tokens match up to the
   * present character. The time does not depend on what is in the text.
   */
  private int findByTable(Map<Integer, long[]> rows, int[] text, int from, int to) {
    long[] state = new long[words(tokens.length)];
    long[] others = rows.getOrDefault(WildcardPattern.ONE, NO_TABLE_ROW);
    int lastWord = state.length - 1;
    long lastBit = 1L << ((tokens.length - 1) & 63);
    for (int at = from; at < to; at++) {
      long[] row = rows.getOrDefault(text[at], others);
      long carry = 1;
      for (int word = 0; word < state.length; word++) {
        long shifted = (state[word] << 1) | carry;
        carry = state[word] >>> 63;
        state[word] = row.length == 0 ? 0 : shifted & row[word];
      }
      if ((state[lastWord] & lastBit) != 0) {
        return at - tokens.length + 1;
      }
    }
    return -1;
  }

  /**
   * For each character, the positions where it is allowed; null when that needs too much memory.
   */
  private static @Nullable Map<Integer, long[]> table(int[] tokens) {
    long distinct = Arrays.stream(tokens).distinct().count();
    if (distinct * words(tokens.length) > TABLE_LONGS_MAX) {
      return null;
    }
    Map<Integer, long[]> table = new HashMap<>();
    for (int i = 0; i < tokens.length; i++) {
      table.computeIfAbsent(tokens[i], token -> new long[words(tokens.length)])[i >> 6] |=
          1L << (i & 63);
    }
    long[] questionMarks = table.get(WildcardPattern.ONE);
    if (questionMarks != null) {
      for (long[] row : table.values()) {
        for (int word = 0; word < row.length; word++) {
          row[word] |= questionMarks[word];
        }
      }
    }
    return table;
  }

  private static int words(int bits) {
    return (bits + 63) >> 6;
  }
}
