package dev.ashlar.gateway.operation;

import dev.ashlar.gateway.exchange.Client;
import dev.ashlar.gateway.exchange.HttpExchange;
import dev.ashlar.gateway.exchange.HttpExchange.RequestBody;
import dev.ashlar.gateway.form.FormBody;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaders;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A request in memory. */
final class TestRequest implements HttpExchange {
  private static final int PIECE_BYTES = 10_000;

  private final String method;
  private final String path;
  private final String query;
  private final HttpHeaders headers = new DefaultHttpHeaders().set("Host", "s3.test");
  private final List<Runnable> endActions = new ArrayList<>();
  private byte[] body = {};
  private int bodyRead;
  private boolean isEncrypted;

  TestRequest(String method, String uri) {
    int question = uri.indexOf('?');
    this.method = method;
    this.path = question < 0 ? uri : uri.substring(0, question);
    this.query = question < 0 ? "" : uri.substring(question + 1);
    if (method.equals("PUT")) {
      headers.set("Content-Length", "0");
    }
  }

  /** Over a connection with TLS. */
  TestRequest overTls() {
    isEncrypted = true;
    return this;
  }

  TestRequest header(String name, String value) {
    headers.add(name, value);
    return this;
  }

  TestRequest without(String name) {
    headers.remove(name);
    return this;
  }

  TestRequest body(byte[] bytes) {
    body = bytes;
    headers.set("Content-Length", Integer.toString(bytes.length));
    return this;
  }

  TestRequest body(String text) {
    return body(text.getBytes(StandardCharsets.UTF_8));
  }

  /** The body in chunks, without its length. */
  TestRequest inChunks() {
    headers.set("Transfer-Encoding", "chunked");
    return without("Content-Length");
  }

  /** The fields of a form, as its whole body. */
  TestRequest form(FormBody form) {
    headers.set("Content-Type", form.contentType());
    return body(form.bytes());
  }

  /** The same request to another target. */
  TestRequest to(String uri) {
    TestRequest other = new TestRequest(method, uri);
    other.headers.set(headers);
    other.body = body;
    other.isEncrypted = isEncrypted;
    return other;
  }

  void end() {
    endActions.forEach(Runnable::run);
  }

  @Override
  public String method() {
    return method;
  }

  @Override
  public String rawPath() {
    return path;
  }

  @Override
  public String rawQuery() {
    return query;
  }

  @Override
  public HttpHeaders headers() {
    return headers;
  }

  @Override
  public String requestId() {
    return "0123456789ABCDEF";
  }

  @Override
  public void onEnd(Runnable action) {
    endActions.add(action);
  }

  @Override
  public Client client() {
    return new Client("127.0.0.1", isEncrypted);
  }

  @Override
  public RequestBody body() {
    return new RequestBody() {
      @Override
      public long length() {
        return headers.contains("Content-Length")
            ? Long.parseLong(headers.get("Content-Length"))
            : -1;
      }

      @Override
      public @Nullable ByteBuf read() {
        if (bodyRead == body.length) {
          return null;
        }
        int from = bodyRead;
        bodyRead = Math.min(body.length, from + PIECE_BYTES);
        return Unpooled.copiedBuffer(body, from, bodyRead - from);
      }
    };
  }
}
