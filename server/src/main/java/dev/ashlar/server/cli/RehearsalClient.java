package dev.ashlar.server.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.ashlar.server.config.RootCredential;
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
    URI uri = URI.create("http://" + host + path + (query.isEmpty() ? "" : "?" + query));
    HttpRequest.Builder request =
        HttpRequest.newBuilder(uri)
            .method(
                method,
                body.length == 0
                    ? HttpRequest.BodyPublishers.noBody()
                    : HttpRequest.BodyPublishers.ofByteArray(body));
    sign(request, method + "\n" + path + "\n" + query + "\n", headers, body);
    HttpResponse<byte[]> answer;
    try {
      answer = http.send(request.build(), HttpResponse.BodyHandlers.ofByteArray());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException(method + " " + path);
    }
    if (answer.statusCode() >= ERROR_MIN) {
      throw new IOException(
          method + " " + uri + ": " + answer.statusCode() + " " + new String(answer.body(), UTF_8));
    }
    return answer.body();
  }

  private void sign(
      HttpRequest.Builder request, String canonicalHead, Map<String, String> headers, byte[] body) {
    String stamp = STAMP.format(Instant.now());
    String day = stamp.substring(0, 8);
    String scope = day + "/" + region + "/s3/aws4_request";
    String hash = sha256(body);
    TreeMap<String, String> signed = new TreeMap<>(headers);
    signed.put("x-amz-content-sha256", hash);
    signed.put("x-amz-date", stamp);
    signed.forEach(request::header);
    signed.put("host", host);
    StringBuilder canonical = new StringBuilder(canonicalHead);
    signed.forEach((name, value) -> canonical.append(name + ":" + value + "\n"));
    String names = String.join(";", signed.keySet());
    canonical.append("\n" + names + "\n" + hash);
    String toSign =
        "AWS4-HMAC-SHA256\n"
            + (stamp + "\n" + scope + "\n" + sha256(canonical.toString().getBytes(UTF_8)));
    byte[] key = ("AWS4" + credential.secretKey()).getBytes(UTF_8);
    for (String step : new String[] {day, region, "s3", "aws4_request", toSign}) {
      key = hmac(key, step);
    }
    request.header(
        "Authorization",
        "AWS4-HMAC-SHA256 Credential=%s/%s, SignedHeaders=%s, Signature=%s"
            .formatted(credential.accessKey(), scope, names, HexFormat.of().formatHex(key)));
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
