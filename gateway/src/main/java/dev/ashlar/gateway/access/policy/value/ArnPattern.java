package dev.ashlar.gateway.access.policy.value;

import dev.ashlar.gateway.access.policy.document.Element;
import dev.ashlar.gateway.access.policy.document.MalformedPolicyException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A pattern for ARNs: each of the six parts between colons is compared alone, so that a wildcard in
 * one part cannot match text of another. The pattern {@code *} matches every ARN.
 */
public final class ArnPattern {
  private static final int PARTS = 6;

  private final Template template;
  private final @Nullable List<WildcardPattern> constantParts;

  private ArnPattern(Template template, @Nullable List<WildcardPattern> constantParts) {
    this.template = template;
    this.constantParts = constantParts;
  }

  public static ArnPattern of(Element.Scalar value, boolean hasVariables)
      throws MalformedPolicyException {
    Template template = Template.of(value, hasVariables, true);
    if (template.hasVariables()) {
      return new ArnPattern(template, null);
    }
    List<WildcardPattern> parts = compile(WildcardPattern.tokens(value.text()));
    if (parts == null) {
      throw value.malformedValue("is not an ARN of six parts");
    }
    return new ArnPattern(template, parts);
  }

  public Template template() {
    return template;
  }

  public boolean matches(CodePoints arn, RequestValues request) {
    List<WildcardPattern> patterns = constantParts;
    if (patterns == null) {
      int[] tokens = template.resolve(request, arn.values().length);
      patterns = tokens == null ? null : compile(tokens);
    }
    List<CodePoints> parts = split(arn);
    if (patterns == null || parts == null) {
      return false;
    }
    for (int i = 0; i < PARTS; i++) {
      if (!patterns.get(i).matches(parts.get(i))) {
        return false;
      }
    }
    return true;
  }

  private static @Nullable List<WildcardPattern> compile(int[] tokens) {
    if (Arrays.equals(tokens, WildcardPattern.tokens("*"))) {
      return Collections.nCopies(PARTS, WildcardPattern.of("*"));
    }
    List<int[]> parts = split(tokens);
    return parts == null ? null : parts.stream().map(WildcardPattern::ofTokens).toList();
  }

  private static @Nullable List<CodePoints> split(CodePoints arn) {
    List<int[]> parts = split(arn.values());
    return parts == null ? null : parts.stream().map(CodePoints::of).toList();
  }

  /** The text between the first five colons and after them; null when there are fewer. */
  private static @Nullable List<int[]> split(int[] arn) {
    List<int[]> parts = new ArrayList<>();
    int start = 0;
    for (int i = 0; i < arn.length && parts.size() < PARTS - 1; i++) {
      if (arn[i] == ':') {
        parts.add(Arrays.copyOfRange(arn, start, i));
        start = i + 1;
      }
    }
    parts.add(Arrays.copyOfRange(arn, start, arn.length));
    return parts.size() == PARTS ? parts : null;
  }
}
