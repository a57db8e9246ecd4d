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
    out.append('<').append(name).append('>');
    open.push(name);
    return this;
  }

  public XmlWriter close() {
    out.append("</").append(open.pop()).append('>');
    return this;
  }

  public XmlWriter element(String name, String text) {
    open(name);
    escape(text);
    return close();
  }

  public XmlWriter element(String name, long number) {
    open(name);
    out.append(number);
    return close();
  }

  public XmlWriter element(String name, boolean value) {
    open(name);
    out.append(value);
    return close();
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

  private void escape(String text) {
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      switch (c) {
        case '<' -> out.append("&lt;");
        case '>' -> out.append("&gt;");
        case '&' -> out.append("&amp;");
        case '"' -> out.append("&quot;");
        default -> {
          if ((c < ' ' && c != '\n') || c == 0x7F || c >= 0xFFFE) {
            out.append("&#x").append(Integer.toHexString(c)).append(';');
          } else {
            out.append(c);
          }
        }
      }
    }
  }
}
