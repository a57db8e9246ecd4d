package dev.ashlar.gateway.http;

import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpAnswer;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import java.nio.charset.StandardCharsets;
import java.util.TreeMap;

/** Renders errors as S3's error documents. */
final class ErrorDocument {
  private static final String RETRY_AFTER_SECONDS = "1";

  private ErrorDocument() {}

  /**
   * @param resource the path as sent; empty when the request could not be read
   */
  static HttpAnswer render(S3Exception error, String resource, String requestId, String hostId) {
    HttpHeaders headers = new DefaultHttpHeaders();
    error.headers().forEach(headers::set);
    int status = error.error().status();
    if (error.error().isUnserved()) {
      headers.set(HttpHeaderNames.RETRY_AFTER, RETRY_AFTER_SECONDS);
    }
    if (!HeadEncoder.allowsBody(status)) {
      return new HttpAnswer(status, headers, new HttpAnswer.Empty());
    }
    headers.set(HttpHeaderNames.CONTENT_TYPE, "application/xml");
    StringBuilder xml =
        new StringBuilder(512).append("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error>");
    element(xml, "Code", error.error().code());
    element(xml, "Message", String.valueOf(error.getMessage()));
    new TreeMap<>(error.details()).forEach((name, value) -> element(xml, name, value));
    if (!error.details().containsKey("Resource")) {
      element(xml, "Resource", resource);
    }
    element(xml, "RequestId", requestId);
    element(xml, "HostId", hostId);
    xml.append("</Error>");
    byte[] content = xml.toString().getBytes(StandardCharsets.UTF_8);
    return new HttpAnswer(status, headers, new HttpAnswer.Bytes(content));
  }

  private static void element(StringBuilder xml, String name, String value) {
    xml.append('<').append(name).append('>');
    for (int i = 0; i < value.length(); i++) {
      escape(xml, value.charAt(i));
    }
    xml.append("</").append(name).append('>');
  }

  private static void escape(StringBuilder xml, char c) {
    switch (c) {
      case '<' -> xml.append("&lt;");
      case '>' -> xml.append("&gt;");
      case '&' -> xml.append("&amp;");
      case '"' -> xml.append("&quot;");
      case '\r' -> xml.append("&#13;");
      case '\t', '\n' -> xml.append(c);
      // XML 1.0 has no way to write the other control characters and the two non-characters.
      default -> xml.append(c < ' ' || c == '\uFFFE' || c == '\uFFFF' ? '\uFFFD' : c);
    }
  }
}
