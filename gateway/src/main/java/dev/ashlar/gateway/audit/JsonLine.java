package dev.ashlar.gateway.audit;

import java.util.HexFormat;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Writes a JSON object in one line. What is sent by clients cannot end the line, nor look like
 * another one in a terminal: control and formatting characters are escaped.
 */
public final class JsonLine {
  private static final HexFormat HEX = HexFormat.of();

  private final int charactersMax;
  private final StringBuilder out = new StringBuilder(512).append('{');

  /**
   * @param charactersMax longer texts are cut
   */
  public JsonLine(int charactersMax) {
    this.charactersMax = charactersMax;
  }

  /** Leaves the field out if there is no value. */
  public JsonLine text(String name, @Nullable String value) {
    return text(name, value, charactersMax);
  }

  /**
   * Leaves the field out if there is no value.
   *
   * @param max a longer text is cut there
   */
  JsonLine text(String name, @Nullable String value, int max) {
    if (value != null) {
      name(name);
      quote(value, max);
    }
    return this;
  }

  public JsonLine number(String name, long value) {
    name(name);
    out.append(value);
    return this;
  }

  /** Leaves the field out if there is no value. */
  public JsonLine flag(String name, @Nullable Boolean value) {
    if (value != null) {
      name(name);
      out.append(value.booleanValue());
    }
    return this;
  }

  /**
   * A duration.
   *
   * @param nanos written in milliseconds with three decimals
   */
  public JsonLine millis(String name, long nanos) {
    long micros = Math.max(0, nanos / 1000);
    name(name);
    out.append(micros / 1000).append('.');
    long rest = micros % 1000;
    out.append(rest / 100).append(rest / 10 % 10).append(rest % 10);
    return this;
  }

  /** An object of texts; left out if it is empty. */
  public JsonLine texts(String name, Map<String, String> values) {
    if (!values.isEmpty()) {
      name(name);
      out.append('{');
      values.forEach(this::text);
      out.append('}');
    }
    return this;
  }

  /** The line with its end. */
  public String end() {
    return out.append("}\n").toString();
  }

  private void name(String name) {
    if (out.charAt(out.length() - 1) != '{') {
      out.append(',');
    }
    quote(name, charactersMax);
    out.append(':');
  }

  private void quote(String text, int max) {
    out.append('"');
    int length = Math.min(text.length(), max);
    for (int i = 0; i < length; ) {
      int c = text.codePointAt(i);
      i += Character.charCount(c);
      if (c == '"' || c == '\\') {
        out.append('\\').append((char) c);
      } else if (isPlain(c)) {
        out.appendCodePoint(c);
      } else {
        for (char each : Character.toChars(c)) {
          out.append("\\u").append(HEX.toHexDigits(each));
        }
      }
    }
    out.append(length < text.length() ? "…\"" : "\"");
  }

  private static boolean isPlain(int c) {
    if (c < 0x7F) {
      return c >= ' ';
    }
    return switch (Character.getType(c)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR,
          Character.PRIVATE_USE,
          Character.SURROGATE,
          Character.UNASSIGNED ->
          false;
      default -> true;
    };
  }
}
