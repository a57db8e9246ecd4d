package dev.ashlar.gateway.fuzz;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.ashlar.gateway.access.policy.value.WildcardPattern;
import dev.ashlar.gateway.principal.Arns;
import java.util.List;
import java.util.Optional;

/** ARNs, and texts against patterns with wildcards; a line feed separates pattern and text. */
public final class NameTarget {
  private static final int SLOW_CHARS_MAX = 24;

  private NameTarget() {}

  public static void fuzzerTestOneInput(byte[] data) {
    String input = new String(data, UTF_8);
    Optional<Arns.Name> name = Arns.parse(input);
    if (name.isPresent()) {
      Arns.Name parsed = name.get();
      String again = Arns.of(parsed.account(), parsed.kind(), parsed.path(), parsed.name());
      if (!again.equals(input)) {
        throw new AssertionError(input + " came back as " + again);
      }
    }
    int line = input.indexOf('\n');
    if (line >= 0) {
      match(input.substring(0, line), input.substring(line + 1));
    }
  }

  private static void match(String pattern, String text) {
    boolean isMatch = WildcardPattern.of(pattern).matches(text);
    int[] p = pattern.codePoints().toArray();
    int[] t = text.codePoints().toArray();
    if (p.length + t.length <= SLOW_CHARS_MAX && isMatch != matches(p, 0, t, 0)) {
      throw new AssertionError(pattern + " against " + text + ": " + isMatch);
    }
  }

  /** Slow and plain. */
  private static boolean matches(int[] pattern, int p, int[] text, int t) {
    if (p == pattern.length) {
      return t == text.length;
    }
    if (pattern[p] == '*') {
      return matches(pattern, p + 1, text, t)
          || (t < text.length && matches(pattern, p, text, t + 1));
    }
    return t < text.length
        && (pattern[p] == '?' || pattern[p] == text[t])
        && matches(pattern, p + 1, text, t + 1);
  }

  static List<byte[]> seeds() {
    return List.of(
        "arn:aws:iam::123456789012:role/path/to/role".getBytes(UTF_8),
        "a*b?c*\nabbbcxc".getBytes(UTF_8),
        ("*a".repeat(10) + "\n" + "a".repeat(100)).getBytes(UTF_8),
        "?\n\uD83D\uDE00".getBytes(UTF_8));
  }
}
