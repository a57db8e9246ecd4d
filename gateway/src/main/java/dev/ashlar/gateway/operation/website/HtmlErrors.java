package dev.ashlar.gateway.operation.website;

import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpAnswer;
import dev.ashlar.gateway.exchange.HttpExchange;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.nio.charset.StandardCharsets;

/** Errors as people see them in browsers. */
final class HtmlErrors {
  private static final String RETRY_AFTER_SECONDS = "1";

  private HtmlErrors() {}

  static HttpAnswer render(S3Exception error, HttpExchange exchange) {
    HttpResponseStatus status = HttpResponseStatus.valueOf(error.error().status());
    StringBuilder out = new StringBuilder(512);
    out.append("<html>\n<head><title>")
        .append(status)
        .append("</title></head>\n<body>\n<h1>")
        .append(status)
        .append("</h1>\n<ul>\n");
    item(out, "Code", error.error().code());
    item(out, "Message", String.valueOf(error.getMessage()));
    error.details().forEach((name, value) -> item(out, name, value));
    item(out, "RequestId", exchange.requestId());
    item(out, "HostId", exchange.hostId());
    out.append("</ul>\n<hr/>\n</body>\n</html>\n");
    return new HttpAnswer(
        status.code(),
        headers(error),
        new HttpAnswer.Bytes(out.toString().getBytes(StandardCharsets.UTF_8)));
  }

  private static HttpHeaders headers(S3Exception error) {
    HttpHeaders headers = new DefaultHttpHeaders();
    error.headers().forEach(headers::set);
    headers.set(HttpHeaderNames.CONTENT_TYPE, "text/html; charset=utf-8");
    headers.set("x-amz-error-code", error.error().code());
    headers.set("x-amz-error-message", error.error().message());
    if (error.error().isUnserved()) {
      headers.set(HttpHeaderNames.RETRY_AFTER, RETRY_AFTER_SECONDS);
    }
    return headers;
  }

  private static void item(StringBuilder out, String name, String value) {
    out.append("<li>").append(name).append(": ");
    for (int i = 0; i < value.length(); i++) {
      char c = value.charAt(i);
      switch (c) {
        case '<' -> out.append("&lt;");
        case '>' -> out.append("&gt;");
        case '&' -> out.append("&amp;");
        case '"' -> out.append("&quot;");
        case '\'' -> out.append("&#39;");
        default -> out.append(c < ' ' || c == 0x7F ? '\uFFFD' : c);
      }
    }
    out.append("</li>\n");
  }
}
