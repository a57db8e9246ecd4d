package dev.ashlar.gateway.fuzz;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.ashlar.gateway.auth.Authenticator.AuthenticatedRequest;
import dev.ashlar.gateway.auth.FailedAttempts;
import dev.ashlar.gateway.auth.SigV2Authenticator;
import dev.ashlar.gateway.auth.SigV4Authenticator;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.Client;
import dev.ashlar.gateway.exchange.HttpExchange;
import dev.ashlar.gateway.form.PostForm;
import dev.ashlar.gateway.s3.S3Config;
import dev.ashlar.gateway.s3.S3RequestParser;
import dev.ashlar.gateway.s3.VirtualHosts;
import dev.ashlar.protocol.message.CredentialRow;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaders;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Requests: a line with method and target, headers, an empty line, the body. No signature is right,
 * so that they are anonymous or refused with an error of S3.
 */
public final class RequestTarget {
  private static final Clock CLOCK =
      Clock.fixed(Instant.parse("2026-11-27T00:00:00Z"), ZoneOffset.UTC);
  private static final VirtualHosts HOSTS = new VirtualHosts(List.of("s3.test"));
  private static final S3RequestParser PARSER =
      new S3RequestParser(new S3Config("us-east-1", HOSTS, "Owner"));
  private static final SigV2Authenticator AUTHENTICATOR = authenticator();

  private RequestTarget() {}

  private static SigV2Authenticator authenticator() {
    CredentialRow row =
        CredentialRow.newBuilder()
            .setAccessKey("AK")
            .setSecretKey(UUID.randomUUID().toString())
            .setOwner("owner")
            .build();
    SigV4Authenticator version4 =
        new SigV4Authenticator(
            key -> key.equals("AK") ? Optional.of(row) : Optional.empty(), "us-east-1", CLOCK);
    return new SigV2Authenticator(version4, HOSTS, CLOCK, FailedAttempts.unlimited());
  }

  public static void fuzzerTestOneInput(byte[] data) {
    Exchange exchange = Exchange.parse(data);
    Exchange posted = Exchange.parse(data);
    if (exchange == null || posted == null) {
      return;
    }
    fuzzForm(posted);
    try {
      AuthenticatedRequest request = AUTHENTICATOR.authenticate(exchange);
      if (!request.caller().isAnonymous()) {
        throw new AssertionError("a signature that nobody made");
      }
      for (ByteBuf piece = request.body().read(); piece != null; piece = request.body().read()) {
        piece.release();
      }
      request.body().checksum();
    } catch (S3Exception e) {
      requireClientError(e);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    } finally {
      exchange.end();
    }
    try {
      PARSER.parse(exchange);
    } catch (S3Exception e) {
      requireClientError(e);
    }
  }

  /** The same as the upload of a form, if it is one. */
  private static void fuzzForm(Exchange exchange) {
    try {
      String bucket = PARSER.bucketOfForm(exchange);
      if (bucket == null) {
        return;
      }
      PostForm form = PostForm.read(exchange, bucket);
      if (!AUTHENTICATOR.authenticateForm(form).caller().isAnonymous()) {
        throw new AssertionError("a signature that nobody made");
      }
      PARSER.parse(form);
      for (ByteBuf piece = form.body().read(); piece != null; piece = form.body().read()) {
        piece.release();
      }
    } catch (S3Exception e) {
      requireClientError(e);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    } finally {
      exchange.end();
    }
  }

  private static void requireClientError(S3Exception e) {
    if (e.error().status() >= 500 && e.error().status() != 501) {
      throw new AssertionError(e);
    }
  }

  private static final class Exchange implements HttpExchange, HttpExchange.RequestBody {
    private static final int PIECE_BYTES = 7;

    private final String method;
    private final String target;
    private final HttpHeaders headers = new DefaultHttpHeaders();
    private final byte[] body;
    private final List<Runnable> endActions = new ArrayList<>();
    private int read;

    private Exchange(String method, String target, byte[] body) {
      this.method = method;
      this.target = target;
      this.body = body;
    }

    /** Null for what an HTTP server would not hand on. */
    static @Nullable Exchange parse(byte[] data) {
      String text = new String(data, ISO_8859_1);
      int end = text.indexOf("\n\n");
      String[] lines = (end < 0 ? text : text.substring(0, end)).split("\n", -1);
      int blank = lines[0].indexOf(' ');
      String target = blank < 0 ? "" : lines[0].substring(blank + 1);
      if (!target.startsWith("/") || !target.chars().allMatch(c -> c > ' ' && c < 0x7f)) {
        return null;
      }
      byte[] body = end < 0 ? new byte[0] : text.substring(end + 2).getBytes(ISO_8859_1);
      Exchange exchange = new Exchange(lines[0].substring(0, blank), target, body);
      for (int i = 1; i < lines.length; i++) {
        int colon = lines[i].indexOf(':');
        if (colon <= 0) {
          return null;
        }
        try {
          exchange.headers.add(lines[i].substring(0, colon), lines[i].substring(colon + 1).strip());
        } catch (IllegalArgumentException e) {
          return null;
        }
      }
      return exchange;
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
      int question = target.indexOf('?');
      return question < 0 ? target : target.substring(0, question);
    }

    @Override
    public String rawQuery() {
      int question = target.indexOf('?');
      return question < 0 ? "" : target.substring(question + 1);
    }

    @Override
    public HttpHeaders headers() {
      return headers;
    }

    @Override
    public Client client() {
      return new Client("192.0.2.1", false);
    }

    @Override
    public RequestBody body() {
      return this;
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
    public long length() {
      return body.length;
    }

    @Override
    public @Nullable ByteBuf read() {
      if (read == body.length) {
        return null;
      }
      int from = read;
      read = Math.min(body.length, from + PIECE_BYTES);
      return Unpooled.copiedBuffer(body, from, read - from);
    }
  }

  static List<byte[]> seeds() {
    return List.of(
        bytes(
            "GET /b/k%2F?versionId=null&partNumber=1",
            "host: s3.test",
            "x-amz-date: 20261127T000000Z",
            "x-amz-content-sha256: UNSIGNED-PAYLOAD",
            "authorization: AWS4-HMAC-SHA256 Credential=AK/20261127/us-east-1/s3/aws4_request,"
                + " SignedHeaders=host;x-amz-content-sha256;x-amz-date, Signature=00"),
        bytes(
            "PUT /b/k?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AK%2F20261127%2Fus-east-1"
                + "%2Fs3%2Faws4_request&X-Amz-Date=20261127T000000Z&X-Amz-Expires=60"
                + "&X-Amz-SignedHeaders=host&X-Amz-Signature=00&x-amz-acl=private",
            "host: b.s3.test"),
        bytes(
            "GET /b?acl&AWSAccessKeyId=AK&Expires=1795737600&Signature=AA%3D%3D", "host: s3.test"),
        bytes(
            "POST /b",
            "content-type: multipart/form-data; boundary=b",
            "content-length: 1",
            "",
            "--b\r",
            "Content-Disposition: form-data; name=\"key\"\r",
            "\r",
            "up/${filename}\r",
            "--b\r",
            "Content-Disposition: form-data; name=\"success_action_redirect\"\r",
            "\r",
            "http://a.test/\r",
            "--b\r",
            "Content-Disposition: form-data; name=\"file\"; filename=\"C:\\a.txt\"\r",
            "Content-Type: text/plain\r",
            "\r",
            "-\r\r",
            "--\r",
            "--b--\r",
            ""),
        bytes(
            "DELETE /b/k",
            "host: s3.test",
            "date: Fri, 27 Nov 2026 00:00:00 GMT",
            "authorization: AWS AK:AAAA"),
        bytes(
            "PUT /b/k",
            "x-amz-content-sha256: STREAMING-UNSIGNED-PAYLOAD-TRAILER",
            "x-amz-decoded-content-length: 5",
            "x-amz-trailer: x-amz-checksum-crc32",
            "content-encoding: aws-chunked",
            "",
            "5\r",
            "hello\r",
            "0\r",
            "x-amz-checksum-crc32:NhCmhg==\r",
            "\r",
            ""),
        bytes(
            "POST /b/k?append=1",
            "range: bytes=0-5",
            "if-match: \"a\"",
            "x-amz-write-offset-bytes: 3",
            "x-amz-tagging: a=b&c=d",
            "x-amz-copy-source: /b/k?versionId=null"));
  }

  private static byte[] bytes(String... lines) {
    return String.join("\n", lines).getBytes(ISO_8859_1);
  }
}
