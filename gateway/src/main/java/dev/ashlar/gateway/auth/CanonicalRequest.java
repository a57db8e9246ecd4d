package dev.ashlar.gateway.auth;

import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpExchange;
import dev.ashlar.gateway.uri.Percent;
import io.netty.handler.codec.http.HttpHeaders;
import java.util.List;

/** The canonical request of Signature Version 4. Every char stands for one byte, as received. */
final class CanonicalRequest {
  private CanonicalRequest() {}

  static String of(HttpExchange exchange, SignedQuery query, SignatureClaim claim)
      throws S3Exception {
    StringBuilder out = new StringBuilder(512);
    out.append(exchange.method()).append('\n');
    Percent.appendCanonical(exchange.rawPath(), false, out);
    out.append('\n');
    query.appendTo(out, claim.presigned() ? "X-Amz-Signature" : null);
    out.append('\n');
    for (String name : claim.signedHeaders()) {
      out.append(name).append(':');
      appendValues(exchange.headers(), name, out);
      out.append('\n');
    }
    out.append('\n');
    for (int i = 0; i < claim.signedHeaders().length; i++) {
      out.append(i == 0 ? "" : ";").append(claim.signedHeaders()[i]);
    }
    return out.append('\n').append(claim.payloadHash()).toString();
  }

  private static void appendValues(HttpHeaders headers, String name, StringBuilder out) {
    // Not Netty's value iterator: that one runs backwards.
    List<String> values = headers.getAll(name);
    for (int i = 0; i < values.size(); i++) {
      if (i > 0) {
        out.append(',');
      }
      appendFolded(values.get(i), out);
    }
  }

  /** Without blanks at its ends, and with one instead of several inside. */
  private static void appendFolded(String value, StringBuilder out) {
    boolean blank = false;
    boolean begun = false;
    for (int i = 0; i < value.length(); i++) {
      char c = value.charAt(i);
      if (c == ' ' || c == '\t') {
        blank = true;
      } else {
        if (blank && begun) {
          out.append(' ');
        }
        blank = false;
        begun = true;
        out.append(c);
      }
    }
  }
}
