package dev.ashlar.gateway.access.policy.value;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WildcardPatternTest {
  @ParameterizedTest
  @CsvSource({
    "'',          '',         true",
    "'',          a,          false",
    "a,           a,          true",
    "a,           A,          false",
    "a,           ab,         false",
    "*,           '',         true",
    "*,           anything,   true",
    "**,          '',         true",
    "?,           '',         false",
    "?,           a,          true",
    "?,           ab,         false",
    "?*,          '',         false",
    "*?,          ab,         true",
    "a*,          a,          true",
    "*a,          ba,         true",
    "*a,          ab,         false",
    "a*a,         a,          false",
    "a*a,         aa,         true",
    "a*b*c,       aXbYc,      true",
    "a*b*c,       aXcYb,      false",
    "a*bc*c,      abcbc,      true",
    "a*bc*bc,     abc,        false",
    "a?c,         abc,        true",
    "a?c,         ac,         false",
    "*.jpg,       x/y/z.jpg,  true",
    "home/*/x?z,  home/a/b/xyz, true",
    "\uD83D\uDE00, \uD83D\uDE00, true",
    "?,           \uD83D\uDE00, true",
    "??,          \uD83D\uDE00, false",
    "*?,          \uD83D\uDE00, true",
    "*??,         \uD83D\uDE00, false",
    "?x*,         \uD83D\uDE00x, true",
  })
  void matches(String pattern, String text, boolean isExpected) {
    assertEquals(isExpected, WildcardPattern.of(pattern).matches(text));
  }

  @Property(tries = 20_000)
  void agreesWithNaiveMatcher(@ForAll("patterns") String pattern, @ForAll("texts") String text) {
    assertEquals(
        naive(pattern.codePoints().toArray(), 0, text.codePoints().toArray(), 0),
        WildcardPattern.of(pattern).matches(text));
  }

  @Provide
  Arbitrary<String> patterns() {
    return Arbitraries.of("a", "b", "*", "?", "\uD83D\uDE00").list().ofMaxSize(9).map(this::join);
  }

  @Provide
  Arbitrary<String> texts() {
    return Arbitraries.of("a", "b", "\uD83D\uDE00").list().ofMaxSize(12).map(this::join);
  }

  private String join(List<String> parts) {
    return String.join("", parts);
  }

  /** Segments beyond 32 characters are searched in another way. */
  @Property(tries = 2_000)
  void agreesWithNaiveMatcherForLongSegments(
      @ForAll("longSegments") String segment,
      @ForAll("longTexts") String before,
      @ForAll("longTexts") String after) {
    for (String text : new String[] {before + after, before + segment.replace('?', 'b') + after}) {
      assertEquals(
          containsAt(segment, text), WildcardPattern.of("*" + segment + "*").matches(text));
    }
  }

  @Provide
  Arbitrary<String> longSegments() {
    return Arbitraries.strings().withChars('a', 'b', '?').ofMinLength(33).ofMaxLength(140);
  }

  @Provide
  Arbitrary<String> longTexts() {
    return Arbitraries.strings().withChars('a', 'b').ofMaxLength(200);
  }

  private static boolean containsAt(String segment, String text) {
    for (int at = 0; at + segment.length() <= text.length(); at++) {
      int same = 0;
      while (same < segment.length()
          && (segment.charAt(same) == '?' || segment.charAt(same) == text.charAt(at + same))) {
        same++;
      }
      if (same == segment.length()) {
        return true;
      }
    }
    return false;
  }

  private static boolean naive(int[] pattern, int p, int[] text, int t) {
    if (p == pattern.length) {
      return t == text.length;
    }
    if (pattern[p] == '*') {
      return naive(pattern, p + 1, text, t) || (t < text.length && naive(pattern, p, text, t + 1));
    }
    return t < text.length
        && (pattern[p] == '?' || pattern[p] == text[t])
        && naive(pattern, p + 1, text, t + 1);
  }

  /** With backtracking, or with a comparison at each position, these would take minutes. */
  @Test
  void hostilePatternsAreCheap() {
    String text = "a".repeat(8_000);
    for (int i = 0; i < 200; i++) {
      assertFalse(WildcardPattern.of("*a".repeat(4_000) + "*b").matches(text));
      assertFalse(WildcardPattern.of("*a?".repeat(2_000) + "b*").matches(text));
      assertFalse(WildcardPattern.of("*" + "a".repeat(4_000) + "b*").matches(text));
      assertFalse(WildcardPattern.of("*a" + "?".repeat(4_000) + "b*").matches(text));
      assertTrue(WildcardPattern.of("*a".repeat(4_000) + "*").matches(text));
    }
  }

  @Test
  void segmentThatNeedsTooMuchMemoryIsTooComplex() {
    StringBuilder distinct = new StringBuilder("*");
    for (int i = 0; i < 3_000; i++) {
      distinct.appendCodePoint(0x4e00 + i);
    }
    assertTrue(WildcardPattern.of(distinct + "*").isTooComplex());
    assertFalse(WildcardPattern.of(distinct.toString()).isTooComplex(), "it is only compared");
    assertFalse(WildcardPattern.of("*" + "ab?".repeat(6_000) + "*").isTooComplex());
  }
}
