package dev.ashlar.it.harness;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.HexFormat;
import java.util.Map;
import java.util.TreeMap;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Signature version 4, written a second time so that the tests can also do it wrong. */
public final class SigV4 {
  private static final DateTimeFormatter STAMP =
      DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss'Z'").withZone(ZoneOffset.UTC);
  private static final String EMPTY_SHA256 = Content.sha256(new byte[0]);

  private final String stamp;
  private final String accessKey;
  private final String scope;
  private final byte[] key;
  private String previousSignature = "";

  public SigV4(Instant time) {
    this(time, ServerProcess.SECRET_KEY);
  }

  public SigV4(Instant time, String secretKey) {
    this(time, ServerProcess.ACCESS_KEY, secretKey, "s3");
  }

  /**
   * @param service of AWS, as iam
   */
  public SigV4(Instant time, String accessKey, String secretKey, String service) {
    this.accessKey = accessKey;
    stamp = STAMP.format(time);
    String day = stamp.substring(0, 8);
    scope = day + "/" + ServerProcess.REGION + "/" + service + "/aws4_request";
    byte[] dayKey = hmac(("AWS4" + secretKey).getBytes(StandardCharsets.UTF_8), day);
    byte[] serviceKey = hmac(hmac(dayKey, ServerProcess.REGION), service);
    key = hmac(serviceKey, "aws4_request");
  }

  /**
   * Adds date, payload hash and authorization to the headers.
   *
   * @param query canonical: sorted and encoded, each name with an equals sign
   */
  public Map<String, String> sign(
      String method, String path, String query, String payloadSha256, Map<String, String> headers) {
    TreeMap<String, String> signed = new TreeMap<>();
    headers.forEach(
        (name, value) -> signed.put(name.toLowerCase(java.util.Locale.ROOT), value.strip()));
    signed.put("x-amz-date", stamp);
    signed.put("x-amz-content-sha256", payloadSha256);
    StringBuilder canonical = new StringBuilder(method + "\n" + path + "\n" + query + "\n");
    signed.forEach((name, value) -> canonical.append(name).append(':').append(value).append('\n'));
    String names = String.join(";", signed.keySet());
    canonical.append('\n').append(names).append('\n').append(payloadSha256);
    String hash = Content.sha256(canonical.toString().getBytes(StandardCharsets.UTF_8));
    String signature = hex(hmac(key, "AWS4-HMAC-SHA256\n" + stamp + "\n" + scope + "\n" + hash));
    previousSignature = signature;
    signed.put(
        "authorization",
        "AWS4-HMAC-SHA256 Credential=%s/%s, SignedHeaders=%s, Signature=%s"
            .formatted(accessKey, scope, names, signature));
    return signed;
  }

  /** The signature of the next chunk of a STREAMING-AWS4-HMAC-SHA256-PAYLOAD body. */
  public String signChunk(byte[] chunk) {
    String text =
        String.join(
            "\n",
            "AWS4-HMAC-SHA256-PAYLOAD",
            stamp,
            scope,
            previousSignature,
            EMPTY_SHA256,
            Content.sha256(chunk));
    previousSignature = hex(hmac(key, text));
    return previousSignature;
  }

  /** The signature of a trailer, given as its lines with a line feed behind each. */
  public String signTrailer(String lines) {
    String hash = Content.sha256(lines.getBytes(StandardCharsets.UTF_8));
    String text =
        String.join("\n", "AWS4-HMAC-SHA256-TRAILER", stamp, scope, previousSignature, hash);
    previousSignature = hex(hmac(key, text));
    return previousSignature;
  }

  private static String hex(byte[] bytes) {
    return HexFormat.of().formatHex(bytes);
  }

  private static byte[] hmac(byte[] key, String text) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(key, "HmacSHA256"));
      return mac.doFinal(text.getBytes(StandardCharsets.UTF_8));
    } catch (java.security.GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }
}
