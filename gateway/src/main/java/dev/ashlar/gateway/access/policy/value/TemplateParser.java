package dev.ashlar.gateway.access.policy.value;

import dev.ashlar.gateway.access.policy.document.Element;
import dev.ashlar.gateway.access.policy.document.MalformedPolicyException;
import dev.ashlar.gateway.access.policy.value.Template.Part;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Splits a text at its variables: {@code ${key}}, {@code ${key, 'default'}}, and the escapes {@code
 * ${*}}, {@code ${?}} and {@code ${$}}. A quote in a default is written twice.
 */
final class TemplateParser {
  private static final String OPENING = "${";

  private final Element.Scalar value;
  private final String text;
  private final boolean hasWildcards;
  private final List<Part> parts = new ArrayList<>();
  private int at;

  TemplateParser(Element.Scalar value, boolean hasWildcards) {
    this.value = value;
    this.text = value.text();
    this.hasWildcards = hasWildcards;
  }

  List<Part> parse() throws MalformedPolicyException {
    while (at < text.length()) {
      int opening = text.indexOf(OPENING, at);
      int end = opening < 0 ? text.length() : opening;
      if (end > at) {
        parts.add(Template.literal(text.substring(at, end), hasWildcards));
      }
      at = end;
      if (opening >= 0) {
        at += OPENING.length();
        parts.add(variable());
      }
    }
    return parts;
  }

  private Part variable() throws MalformedPolicyException {
    int end = at;
    while (end < text.length() && text.charAt(end) != '}' && text.charAt(end) != ',') {
      end++;
    }
    String key = text.substring(at, end).strip();
    at = end;
    if (key.equals("*") || key.equals("?") || key.equals("$")) {
      expect('}');
      return Template.literal(key, false);
    }
    if (key.indexOf(':') <= 0 || key.indexOf('$') >= 0 || key.indexOf('\'') >= 0) {
      throw value.malformedValue("has a variable that is not the name of a condition key");
    }
    String defaultValue = at < text.length() && text.charAt(at) == ',' ? defaultValue() : null;
    expect('}');
    return variable(key, defaultValue);
  }

  private static Part variable(String key, @Nullable String defaultValue) {
    return new Part.Variable(key.toLowerCase(Locale.ROOT), defaultValue);
  }

  private String defaultValue() throws MalformedPolicyException {
    at++;
    skipSpaces();
    expect('\'');
    StringBuilder content = new StringBuilder();
    while (at < text.length()) {
      char c = text.charAt(at++);
      if (c != '\'') {
        content.append(c);
      } else if (at < text.length() && text.charAt(at) == '\'') {
        content.append('\'');
        at++;
      } else {
        skipSpaces();
        return content.toString();
      }
    }
    throw value.malformedValue("has a default value that does not end");
  }

  private void skipSpaces() {
    while (at < text.length() && text.charAt(at) == ' ') {
      at++;
    }
  }

  private void expect(char expected) throws MalformedPolicyException {
    if (at >= text.length() || text.charAt(at) != expected) {
      throw value.malformedValue("has a variable without its " + expected);
    }
    at++;
  }
}
