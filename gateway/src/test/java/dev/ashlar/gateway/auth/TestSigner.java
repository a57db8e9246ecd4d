package dev.ashlar.gateway.auth;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Map;
import java.util.TreeMap;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** A client's side of Signature Version 4, written apart from the server's. */
final class TestSigner {
  static final String ACCESS_KEY = "AKIAIOSFODNN7EXAMPLE";
  static final String SECRET = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
  static final String TIMESTAMP = "20130524T000000Z";
  private static final String SCOPE = "20130524/us-east-1/s3/aws4_request";

  private String previous = "";

  /** A whole request head with its signature; {@code canonicalQuery} is sent as it is. */
  String head(String method, String path, String canonicalQuery, Map<String, String> headers) {
    TreeMap<String, String> signed = new TreeMap<>(headers);
    signed.put("host", "localhost");
    signed.putIfAbsent("x-amz-date", TIMESTAMP);
    StringBuilder canonical =
        new StringBuilder(method + "\n" + path + "\n" + canonicalQuery + "\n");
    StringBuilder head = new StringBuilder(method + " " + path);
    head.append(canonicalQuery.isEmpty() ? "" : "?" + canonicalQuery).append(" HTTP/1.1\r\n");
    signed.forEach(
        (name, value) -> {
          canonical.append(name).append(':').append(value.strip()).append('\n');
          head.append(name).append(": ").append(value).append("\r\n");
        });
    String names = String.join(";", signed.keySet());
    canonical.append('\n').append(names).append('\n').append(headers.get("x-amz-content-sha256"));
    previous =
        sign("AWS4-HMAC-SHA256\n" + TIMESTAMP + "\n" + SCOPE + "\n" + sha256(canonical.toString()));
    return head.append("Authorization: AWS4-HMAC-SHA256 Credential=")
        .append(ACCESS_KEY + "/" + SCOPE + ", SignedHeaders=" + names)
        .append(", Signature=" + previous + "\r\n\r\n")
        .toString();
  }

  /** What must follow the size of a chunk. */
  String chunkExtension(String data) {
    previous =
        sign(
            "AWS4-HMAC-SHA256-PAYLOAD\n"
                + TIMESTAMP
                + "\n"
                + SCOPE
                + "\n"
                + previous
                + "\n"
                + sha256("")
                + "\n"
                + sha256(data));
    return ";chunk-signature=" + previous;
  }

  String trailerSignature(String lines) {
    return sign(
        "AWS4-HMAC-SHA256-TRAILER\n"
            + TIMESTAMP
            + "\n"
            + SCOPE
            + "\n"
            + previous
            + "\n"
            + sha256(lines));
  }

  static String sha256(String text) {
    try {
      return HexFormat.of()
          .formatHex(MessageDigest.getInstance("SHA-256").digest(text.getBytes(ISO_8859_1)));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  private static String sign(String text) {
    byte[] key = ("AWS4" + SECRET).getBytes(ISO_8859_1);
    for (String step : SCOPE.split("/", -1)) {
      key = hmac(key, step);
    }
    return HexFormat.of().formatHex(hmac(key, text));
  }

  private static byte[] hmac(byte[] key, String text) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(key, "HmacSHA256"));
      return mac.doFinal(text.getBytes(ISO_8859_1));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }
}
