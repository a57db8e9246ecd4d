package dev.ashlar.gateway.xml;

import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * Writes S3's documents. Every text is escaped. Control characters other than line feeds, which
 * people read in error messages, are written as numeric references, as S3 does. Strict parsers
 * refuse those that XML 1.0 cannot hold, so clients with such keys ask for encoding-type=url.
 */
public final class XmlWriter {
  private static final String NAMESPACE = "http://s3.amazonaws.com/doc/2006-03-01/";

  private final StringBuilder out = new StringBuilder(512);
  private final Deque<String> open = new ArrayDeque<>();

  public XmlWriter() {
    out.append("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
  }

  public XmlWriter openRoot(String name) {
    return openRoot(name, NAMESPACE);
  }

  public XmlWriter openRoot(String name, String namespace) {
    out.append('<').append(name).append(" xmlns=\"").append(namespace).append("\">");
    open.push(name);
    return this;
  }

  public XmlWriter open(String name) {
    start(name);
    open.push(name);
    return this;
  }

  public XmlWriter close() {
    return end(open.pop());
  }

  private void start(String name) {
    out.append('<').append(name).append('>');
  }

  private XmlWriter end(String name) {
    out.append("</").append(name).append('>');
    return this;
  }

  public XmlWriter element(String name, String text) {
    start(name);
    escape(text);
    return end(name);
  }

  public XmlWriter element(String name, long number) {
    start(name);
    out.append(number);
    return end(name);
  }

  public XmlWriter element(String name, boolean value) {
    start(name);
    out.append(value);
    return end(name);
  }

  /** Writes nothing for null. */
  public XmlWriter optional(String name, @Nullable String text) {
    return text == null ? this : element(name, text);
  }

  /** An owner or initiator. */
  public XmlWriter person(String name, String id, String displayName) {
    return open(name).element("ID", id).element("DisplayName", displayName).close();
  }

  public XmlWriter text(String text) {
    escape(text);
    return this;
  }

  /** An element whose xsi:type says what kind of grantee it is. */
  public XmlWriter openTyped(String name, String type) {
    out.append('<')
        .append(name)
        .append(" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xsi:type=\"")
        .append(type)
        .append("\">");
    open.push(name);
    return this;
  }

  public byte[] toBytes() {
    return toText().getBytes(StandardCharsets.UTF_8);
  }

  public String toText() {
    if (!open.isEmpty()) {
      throw new IllegalStateException("not closed: " + open.peek());
    }
    return out.toString();
  }

  /** Appends what needs no escape in pieces as long as possible. */
  private void escape(String text) {
    int from = 0;
    for (int i = 0; i < text.length(); i++) {
      String escaped = escaped(text.charAt(i));
      if (escaped != null) {
        out.append(text, from, i).append(escaped);
        from = i + 1;
      }
    }
    out.append(text, from, text.length());
  }

  /** Null for a character that is written as it is. */
  private static @Nullable String escaped(char c) {
    return switch (c) {
      case '<' -> "&lt;";
      case '>' -> "&gt;";
      case '&' -> "&amp;";
      case '"' -> "&quot;";
      case '\n' -> null;
      default -> c < ' ' || c == 0x7F || c >= 0xFFFE ? "&#x" + Integer.toHexString(c) + ';' : null;
    };
  }
}
