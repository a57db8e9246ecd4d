package dev.ashlar.gateway.access.policy.value;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A pattern in which * stands for any characters and ? for one. The segments between asterisks are
 * found one after another, each at its first possible position: a later position can never make a
 * match possible that the first one does not, so nothing is tried twice.
 */
public final class WildcardPattern {
  /** The token of ?; characters are tokens of their own value. */
  static final int ONE = -1;

  /** The token of *. */
  static final int MANY = -2;

  private final Segment first;
  private final List<Segment> middle;
  private final Segment last;
  private final boolean hasAsterisk;
  private final int lengthMin;

  private WildcardPattern(int[] tokens) {
    List<int[]> parts = split(tokens);
    hasAsterisk = parts.size() > 1;
    first = new Segment(parts.get(0), false);
    last = new Segment(parts.get(parts.size() - 1), false);
    middle =
        parts.stream()
            .limit(parts.size() - 1L)
            .skip(1)
            .filter(part -> part.length > 0)
            .map(part -> new Segment(part, true))
            .toList();
    lengthMin = (int) Arrays.stream(tokens).filter(token -> token != MANY).count();
  }

  /** A pattern in which * and ? have their meaning. */
  public static WildcardPattern of(String text) {
    return ofTokens(tokens(text));
  }

  static WildcardPattern ofTokens(int[] tokens) {
    return new WildcardPattern(tokens);
  }

  static int[] tokens(String text) {
    return text.codePoints()
        .map(character -> character == '*' ? MANY : character == '?' ? ONE : character)
        .toArray();
  }

  /** Whether the time of a comparison would not be bounded well: such a pattern is refused. */
  boolean isTooComplex() {
    return middle.stream().anyMatch(Segment::isTooComplex);
  }

  public boolean matches(String text) {
    return matches(CodePoints.of(text));
  }

  public boolean matches(CodePoints text) {
    int[] values = text.values();
    if (values.length < lengthMin || !first.matchesAt(values, 0)) {
      return false;
    }
    if (!hasAsterisk) {
      return values.length == lengthMin;
    }
    int end = values.length - last.length();
    if (!last.matchesAt(values, end)) {
      return false;
    }
    int from = first.length();
    for (Segment segment : middle) {
      int at = segment.find(text, from, end);
      if (at < 0) {
        return false;
      }
      from = at + segment.length();
    }
    return true;
  }

  private static List<int[]> split(int[] tokens) {
    List<int[]> parts = new ArrayList<>();
    int start = 0;
    for (int i = 0; i <= tokens.length; i++) {
      if (i == tokens.length || tokens[i] == MANY) {
        parts.add(Arrays.copyOfRange(tokens, start, i));
        start = i + 1;
      }
    }
    return parts;
  }
}
