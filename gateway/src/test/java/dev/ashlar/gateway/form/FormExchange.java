package dev.ashlar.gateway.form;

import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.Client;
import dev.ashlar.gateway.exchange.HttpExchange;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaders;
import org.jspecify.annotations.Nullable;

/** A form that is posted to /bkt. */
public final class FormExchange implements HttpExchange {
  private final HttpHeaders headers = new DefaultHttpHeaders();
  private @Nullable ByteBuf body;

  private FormExchange(FormBody form) {
    headers.set("Host", "s3.test").set("Content-Type", form.contentType());
    body = Unpooled.wrappedBuffer(form.bytes());
  }

  /** The form up to its file. */
  public static PostForm read(FormBody form) throws S3Exception, InterruptedException {
    return PostForm.read(new FormExchange(form), "bkt");
  }

  @Override
  public String method() {
    return "POST";
  }

  @Override
  public String rawPath() {
    return "/bkt";
  }

  @Override
  public String rawQuery() {
    return "";
  }

  @Override
  public HttpHeaders headers() {
    return headers;
  }

  @Override
  public Client client() {
    return new Client("127.0.0.1", false);
  }

  @Override
  public String requestId() {
    return "0123456789ABCDEF";
  }

  @Override
  public void onEnd(Runnable action) {}

  @Override
  public RequestBody body() {
    return new RequestBody() {
      @Override
      public long length() {
        return -1;
      }

      @Override
      public @Nullable ByteBuf read() {
        ByteBuf all = body;
        body = null;
        return all;
      }
    };
  }
}
