package dev.ashlar.gateway.access.policy.value;

import dev.ashlar.gateway.access.policy.document.Element;
import dev.ashlar.gateway.access.policy.document.MalformedPolicyException;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A text of a policy that can have wildcards and variables, such as {@code home/${aws:username}/*}.
 * The value of a variable stands for itself: wildcards in it have no meaning. A variable without a
 * value and without a default makes the whole text match nothing.
 */
public final class Template {
  private final List<Part> parts;
  private final String text;
  private final @Nullable WildcardPattern constantPattern;

  sealed interface Part {
    /**
     * Characters, and wildcards where the text may have them.
     *
     * @param characters how many characters a text has at least that matches
     */
    record Tokens(int[] tokens, int characters) implements Part {}

    /**
     * @param key in lower case
     */
    record Variable(String key, @Nullable String defaultValue) implements Part {}
  }

  private Template(String text, List<Part> parts) {
    this.text = text;
    this.parts = parts;
    this.constantPattern =
        hasVariables() ? null : WildcardPattern.ofTokens(tokens(parts).toArray());
  }

  /**
   * @param hasVariables whether ${...} has a meaning, which the version of the policy tells
   * @param hasWildcards whether * and ? have a meaning
   */
  public static Template of(Element.Scalar value, boolean hasVariables, boolean hasWildcards)
      throws MalformedPolicyException {
    Template template =
        new Template(
            value.text(),
            hasVariables
                ? new TemplateParser(value, hasWildcards).parse()
                : List.of(literal(value.text(), hasWildcards)));
    // The parts between variables are checked as one: values of requests are short.
    if (WildcardPattern.ofTokens(tokens(template.parts).toArray()).isTooComplex()) {
      throw value.malformedValue("has too many different characters between two asterisks");
    }
    return template;
  }

  static Part.Tokens literal(String text, boolean hasWildcards) {
    int[] tokens = hasWildcards ? WildcardPattern.tokens(text) : text.codePoints().toArray();
    long asterisks = Arrays.stream(tokens).filter(t -> t == WildcardPattern.MANY).count();
    return new Part.Tokens(tokens, tokens.length - (int) asterisks);
  }

  public boolean hasVariables() {
    return parts.stream().anyMatch(Part.Variable.class::isInstance);
  }

  /** The text as it is written in the policy. */
  public String text() {
    return text;
  }

  public boolean matches(CodePoints value, RequestValues request) {
    if (constantPattern != null) {
      return constantPattern.matches(value);
    }
    int[] tokens = resolve(request, value.values().length);
    return tokens != null
        && startsLike(tokens, value.values())
        && WildcardPattern.ofTokens(tokens).matches(value);
  }

  /** Sorts out most texts before a pattern is compiled for this request alone. */
  private static boolean startsLike(int[] tokens, int[] value) {
    for (int i = 0; i < tokens.length && tokens[i] != WildcardPattern.MANY; i++) {
      if (i == value.length || (tokens[i] != WildcardPattern.ONE && tokens[i] != value[i])) {
        return false;
      }
    }
    return true;
  }

  public boolean isEqual(CodePoints value, RequestValues request) {
    int[] tokens = resolve(request, value.values().length);
    return tokens != null && Arrays.equals(tokens, value.values());
  }

  public boolean isEqualIgnoringCase(CodePoints value, RequestValues request) {
    // A character can change its length with its case, but never its number of code points.
    int[] tokens = resolve(request, value.values().length);
    return tokens != null && new String(tokens, 0, tokens.length).equalsIgnoreCase(value.text());
  }

  /**
   * The tokens with the values of the variables; null when one has no value, or when the result is
   * longer than what it is compared with, so that a text of many variables needs no memory.
   */
  int @Nullable [] resolve(RequestValues request, int lengthMax) {
    int[][] resolved = new int[parts.size()][];
    int length = 0;
    int characters = 0;
    for (int i = 0; i < resolved.length; i++) {
      Part part = parts.get(i);
      int[] tokens = tokens(part, request);
      if (tokens == null) {
        return null;
      }
      resolved[i] = tokens;
      length += tokens.length;
      characters += part instanceof Part.Tokens constant ? constant.characters : tokens.length;
      if (characters > lengthMax) {
        return null;
      }
    }
    int[] all = new int[length];
    int at = 0;
    for (int[] tokens : resolved) {
      System.arraycopy(tokens, 0, all, at, tokens.length);
      at += tokens.length;
    }
    return all;
  }

  private static int @Nullable [] tokens(Part part, RequestValues request) {
    return switch (part) {
      case Part.Tokens constant -> constant.tokens;
      case Part.Variable variable -> {
        CodePoints value = request.single(variable.key);
        if (value != null) {
          yield value.values();
        }
        String defaultValue = variable.defaultValue;
        yield defaultValue == null ? null : defaultValue.codePoints().toArray();
      }
    };
  }

  private static IntStream tokens(List<Part> parts) {
    return parts.stream()
        .flatMapToInt(
            part -> part instanceof Part.Tokens t ? Arrays.stream(t.tokens) : IntStream.empty());
  }
}
