package dev.ashlar.gateway.operation;

import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.xml.XmlReader;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaders;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What came back.
 *
 * @param code the S3 error code, or empty
 * @param error the error, or null
 */
record TestAnswer(
    int status, String code, HttpHeaders headers, byte[] body, @Nullable S3Exception error) {
  static TestAnswer of(S3Exception e) {
    HttpHeaders headers = new DefaultHttpHeaders();
    e.headers().forEach(headers::set);
    return new TestAnswer(e.error().status(), e.error().code(), headers, new byte[0], e);
  }

  String header(String name) {
    return headers.get(name, "");
  }

  String text() {
    return new String(body, StandardCharsets.UTF_8);
  }

  String detail(String name) {
    return Objects.requireNonNull(error).details().getOrDefault(name, "");
  }

  XmlReader.Element xml() throws S3Exception {
    String text = text();
    int root = text.indexOf("\n<") + 2;
    int end = root;
    while (" />".indexOf(text.charAt(end)) < 0) {
      end++;
    }
    return XmlReader.read(body, text.substring(root, end));
  }

  /** The text of an element below the root. */
  String element(String name) throws S3Exception {
    String text = xml().childText(name);
    return text == null ? "(absent)" : text;
  }

  /** The texts of one child of all elements of one name below the root. */
  List<String> each(String element, String child) throws S3Exception {
    return xml().children().stream()
        .filter(found -> found.name().equals(element))
        .map(found -> Objects.requireNonNull(found.childText(child)))
        .toList();
  }
}
