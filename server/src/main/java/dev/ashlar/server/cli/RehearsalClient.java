package dev.ashlar.server.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.ashlar.server.config.RootCredential;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.InetSocketAddress;
import java.net.URI;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * As much of an S3 client as a rehearsal needs: signed requests whose answers are read and left.
 */
public final class RehearsalClient {
  private static final DateTimeFormatter STAMP =
      DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss'Z'").withZone(ZoneOffset.UTC);
  private static final String SIGNED = "host;x-amz-content-sha256;x-amz-date";

  private final String host;
  private final RootCredential credential;
  private final String region;

  public RehearsalClient(InetSocketAddress server, RootCredential credential, String region) {
    this.host = server.getHostString() + ":" + server.getPort();
    this.credential = credential;
    this.region = region;
  }

  /**
   * @param path and query are plain ASCII that needs no encoding, the query sorted
   * @return the body of the answer
   * @throws IOException also when the answer is no success
   */
  public byte[] send(String method, String path, String query, byte[] body) throws IOException {
    URI uri = URI.create("http://" + host + path + (query.isEmpty() ? "" : "?" + query));
    HttpURLConnection connection = (HttpURLConnection) uri.toURL().openConnection();
    connection.setRequestMethod(method);
    sign(connection, method + "\n" + path + "\n" + query + "\n", body);
    if (method.equals("PUT")) {
      connection.setDoOutput(true);
      connection.setFixedLengthStreamingMode(body.length);
      connection.getOutputStream().write(body);
    }
    try (var answer = connection.getInputStream()) {
      return answer.readAllBytes();
    }
  }

  private void sign(HttpURLConnection connection, String canonicalHead, byte[] body) {
    String stamp = STAMP.format(Instant.now());
    String day = stamp.substring(0, 8);
    String scope = day + "/" + region + "/s3/aws4_request";
    String hash = sha256(body);
    String canonical =
        canonicalHead
            + ("host:" + host + "\nx-amz-content-sha256:" + hash + "\nx-amz-date:" + stamp + "\n\n")
            + (SIGNED + "\n" + hash);
    String toSign =
        "AWS4-HMAC-SHA256\n" + stamp + "\n" + scope + "\n" + sha256(canonical.getBytes(UTF_8));
    byte[] key = ("AWS4" + credential.secretKey()).getBytes(UTF_8);
    for (String step : new String[] {day, region, "s3", "aws4_request", toSign}) {
      key = hmac(key, step);
    }
    connection.setRequestProperty("x-amz-date", stamp);
    connection.setRequestProperty("x-amz-content-sha256", hash);
    connection.setRequestProperty(
        "Authorization",
        "AWS4-HMAC-SHA256 Credential=%s/%s, SignedHeaders=%s, Signature=%s"
            .formatted(credential.accessKey(), scope, SIGNED, HexFormat.of().formatHex(key)));
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
