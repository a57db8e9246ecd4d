package dev.ashlar.server.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.ashlar.server.config.RootCredential;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Map;
import java.util.TreeMap;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * As much of an S3 client as a rehearsal needs: signed requests whose answers are read and left.
 */
public final class RehearsalClient {
  private static final DateTimeFormatter STAMP =
      DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss'Z'").withZone(ZoneOffset.UTC);
  private static final int ERROR_MIN = 300;
  private static final int CHUNK_BYTES = 64 << 10;

  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final String host;
  private final RootCredential credential;
  private final String region;

  public RehearsalClient(InetSocketAddress server, RootCredential credential, String region) {
    this.host = server.getHostString() + ":" + server.getPort();
    this.credential = credential;
    this.region = region;
  }

  /** Sends a request without headers of its own. */
  public byte[] send(String method, String path, String query, byte[] body) throws IOException {
    return send(method, path, query, Map.of(), body);
  }

  /**
   * @param path and query are plain ASCII that needs no encoding, the query sorted
   * @param headers their names in lower case; they are signed
   * @return the body of the answer
   * @throws IOException also when the answer is no success
   */
  public byte[] send(
      String method, String path, String query, Map<String, String> headers, byte[] body)
      throws IOException {
    HttpRequest.Builder request = request(path, query);
    sign(request, method + "\n" + path + "\n" + query + "\n", headers, sha256(body));
    return answer(
        request.method(
            method,
            body.length == 0
                ? HttpRequest.BodyPublishers.noBody()
                : HttpRequest.BodyPublishers.ofByteArray(body)));
  }

  /** Uploads in signed chunks, as many clients do. */
  void putInChunks(String path, String query, byte[] body) throws IOException {
    HttpRequest.Builder request = request(path, query);
    Map<String, String> headers =
        Map.of("x-amz-decoded-content-length", Integer.toString(body.length));
    Signature signature =
        sign(
            request,
            "PUT\n" + path + "\n" + query + "\n",
            headers,
            "STREAMING-AWS4-HMAC-SHA256-PAYLOAD");
    answer(request.PUT(HttpRequest.BodyPublishers.ofByteArray(chunks(body, signature))));
  }

  private static byte[] chunks(byte[] body, Signature signature) {
    ByteArrayOutputStream chunks = new ByteArrayOutputStream(body.length + CHUNK_BYTES);
    Signature previous = signature;
    for (int at = 0; at < body.length; at += CHUNK_BYTES) {
      byte[] chunk = Arrays.copyOfRange(body, at, Math.min(body.length, at + CHUNK_BYTES));
      previous = addChunk(chunks, previous, chunk);
    }
    addChunk(chunks, previous, new byte[0]);
    return chunks.toByteArray();
  }

  private static Signature addChunk(
      ByteArrayOutputStream chunks, Signature previous, byte[] chunk) {
    Signature signature = previous.ofChunk(chunk);
    String head = Integer.toHexString(chunk.length) + ";chunk-signature=" + signature.hex();
    chunks.writeBytes((head + "\r\n").getBytes(UTF_8));
    chunks.writeBytes(chunk);
    chunks.writeBytes("\r\n".getBytes(UTF_8));
    return signature;
  }

  private HttpRequest.Builder request(String path, String query) {
    return HttpRequest.newBuilder(
        URI.create("http://" + host + path + (query.isEmpty() ? "" : "?" + query)));
  }

  private byte[] answer(HttpRequest.Builder builder) throws IOException {
    HttpRequest request = builder.build();
    String what = request.method() + " " + request.uri();
    HttpResponse<byte[]> answer;
    try {
      answer = http.send(request, HttpResponse.BodyHandlers.ofByteArray());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException(what);
    }
    if (answer.statusCode() >= ERROR_MIN) {
      throw new IOException(
          what + ": " + answer.statusCode() + " " + new String(answer.body(), UTF_8));
    }
    return answer.body();
  }

  /** A signature, and what those of the chunks behind it need. */
  private record Signature(byte[] key, String context, String hex) {
    static Signature of(byte[] key, String context, String kind, String text) {
      String toSign = kind + "\n" + context + "\n" + text;
      return new Signature(key, context, HexFormat.of().formatHex(hmac(key, toSign)));
    }

    Signature ofChunk(byte[] chunk) {
      String text = hex + "\n" + sha256(new byte[0]) + "\n" + sha256(chunk);
      return of(key, context, "AWS4-HMAC-SHA256-PAYLOAD", text);
    }
  }

  /**
   * @param hash of the body, or its form
   */
  private Signature sign(
      HttpRequest.Builder request, String canonicalHead, Map<String, String> headers, String hash) {
    String stamp = STAMP.format(Instant.now());
    String day = stamp.substring(0, 8);
    String scope = day + "/" + region + "/s3/aws4_request";
    TreeMap<String, String> signed = new TreeMap<>(headers);
    signed.put("x-amz-content-sha256", hash);
    signed.put("x-amz-date", stamp);
    signed.forEach(request::header);
    signed.put("host", host);
    StringBuilder canonical = new StringBuilder(canonicalHead);
    signed.forEach((name, value) -> canonical.append(name + ":" + value + "\n"));
    String names = String.join(";", signed.keySet());
    canonical.append("\n" + names + "\n" + hash);
    byte[] key = ("AWS4" + credential.secretKey()).getBytes(UTF_8);
    for (String step : new String[] {day, region, "s3", "aws4_request"}) {
      key = hmac(key, step);
    }
    Signature signature =
        Signature.of(
            key,
            stamp + "\n" + scope,
            "AWS4-HMAC-SHA256",
            sha256(canonical.toString().getBytes(UTF_8)));
    request.header(
        "Authorization",
        "AWS4-HMAC-SHA256 Credential=%s/%s, SignedHeaders=%s, Signature=%s"
            .formatted(credential.accessKey(), scope, names, signature.hex()));
    return signature;
  }

  private static String sha256(byte[] bytes) {
    try {
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  private static byte[] hmac(byte[] key, String text) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(key, "HmacSHA256"));
      return mac.doFinal(text.getBytes(UTF_8));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }
}
