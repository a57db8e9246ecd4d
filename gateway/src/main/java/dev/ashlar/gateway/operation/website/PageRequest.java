package dev.ashlar.gateway.operation.website;

import dev.ashlar.gateway.audit.AuditEvent;
import dev.ashlar.gateway.exchange.Client;
import dev.ashlar.gateway.exchange.HttpExchange;
import dev.ashlar.gateway.exchange.TlsParameters;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.util.AsciiString;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The request of S3 for an object that a website needs. It carries no signature and no parameter,
 * whatever the client has sent: it may do what anybody may.
 *
 * @param asked what the client has sent
 * @param headers that S3 gets
 */
record PageRequest(HttpExchange asked, String method, String rawPath, HttpHeaders headers)
    implements HttpExchange {
  /** It is below no domain, so that the path names the bucket. */
  private static final String NO_DOMAIN = "website";

  private static final List<AsciiString> ABOUT_CLIENT =
      List.of(HttpHeaderNames.USER_AGENT, HttpHeaderNames.REFERER, HttpHeaderNames.ORIGIN);

  private static final List<AsciiString> OF_PREFLIGHT =
      List.of(
          HttpHeaderNames.ACCESS_CONTROL_REQUEST_METHOD,
          HttpHeaderNames.ACCESS_CONTROL_REQUEST_HEADERS);

  private static final List<AsciiString> ABOUT_CONTENT =
      List.of(
          HttpHeaderNames.RANGE,
          HttpHeaderNames.IF_MATCH,
          HttpHeaderNames.IF_NONE_MATCH,
          HttpHeaderNames.IF_MODIFIED_SINCE,
          HttpHeaderNames.IF_UNMODIFIED_SINCE);

  /** For the page that the client asks for, with its conditions and its range. */
  static PageRequest forPage(HttpExchange client, String rawPath) {
    PageRequest request = forOther(client, client.method(), rawPath);
    copy(client.headers(), ABOUT_CONTENT, request.headers);
    return request;
  }

  /** What a browser asks before it sends a request of another origin. */
  static PageRequest preflight(HttpExchange client, String rawPath) {
    PageRequest request = forOther(client, client.method(), rawPath);
    copy(client.headers(), OF_PREFLIGHT, request.headers);
    return request;
  }

  /** For another page, all of it. */
  static PageRequest forOther(HttpExchange client, String method, String rawPath) {
    HttpHeaders headers = new DefaultHttpHeaders().set(HttpHeaderNames.HOST, NO_DOMAIN);
    copy(client.headers(), ABOUT_CLIENT, headers);
    return new PageRequest(client, method, rawPath, headers);
  }

  private static void copy(HttpHeaders from, List<AsciiString> names, HttpHeaders to) {
    for (AsciiString name : names) {
      List<String> values = from.getAll(name);
      if (!values.isEmpty()) {
        to.set(name, values);
      }
    }
  }

  @Override
  public String rawQuery() {
    return "";
  }

  @Override
  public RequestBody body() {
    return asked.body();
  }

  @Override
  public Client client() {
    return asked.client();
  }

  @Override
  public String requestId() {
    return asked.requestId();
  }

  @Override
  public @Nullable AuditEvent audit() {
    return asked.audit();
  }

  @Override
  public @Nullable TlsParameters tls() {
    return asked.tls();
  }

  @Override
  public String hostId() {
    return asked.hostId();
  }

  @Override
  public Outcome outcome() {
    return asked.outcome();
  }

  @Override
  public void onEnd(Runnable action) {
    asked.onEnd(action);
  }
}
