package dev.ashlar.bench.load;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.HexFormat;
import java.util.Map;
import java.util.SortedMap;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * AWS Signature Version 4 in the Authorization header, for requests whose path needs no encoding.
 * For one thread.
 */
final class Signer {
  static final String UNSIGNED_PAYLOAD = "UNSIGNED-PAYLOAD";
  static final String EMPTY_PAYLOAD =
      "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

  private static final DateTimeFormatter STAMP =
      DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss'Z'").withZone(ZoneOffset.UTC);
  private static final String ALGORITHM = "AWS4-HMAC-SHA256";
  private static final String SIGNED_HEADERS = "host;x-amz-content-sha256;x-amz-date";
  private static final int DAY_CHARS = 8;

  private final Target target;
  private final MessageDigest sha256;
  private final Mac mac;
  private long second = Long.MIN_VALUE;
  private String stamp = "";
  private String scope = "";

  Signer(Target target) {
    this.target = target;
    try {
      sha256 = MessageDigest.getInstance("SHA-256");
      mac = Mac.getInstance("HmacSHA256");
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  /**
   * The header lines {@code x-amz-*} and {@code Authorization} of a request made now.
   *
   * @param query in canonical form, without the question mark; may be empty
   * @param more headers, by names that sort behind {@code x-amz-date}
   */
  void headers(
      String method,
      String path,
      String query,
      String payloadHash,
      SortedMap<String, String> more,
      StringBuilder out) {
    headers(Instant.now(), method, path, query, payloadHash, more, out);
  }

  void headers(
      Instant now,
      String method,
      String path,
      String query,
      String payloadHash,
      SortedMap<String, String> more,
      StringBuilder out) {
    turnTo(now);
    String lines = "";
    String names = SIGNED_HEADERS;
    for (Map.Entry<String, String> header : more.entrySet()) {
      lines += header.getKey() + ":" + header.getValue() + "\n";
      names += ";" + header.getKey();
    }
    String canonical =
        method
            + "\n"
            + path
            + "\n"
            + query
            + "\nhost:"
            + target.hostHeader()
            + "\nx-amz-content-sha256:"
            + payloadHash
            + "\nx-amz-date:"
            + stamp
            + "\n"
            + lines
            + "\n"
            + names
            + "\n"
            + payloadHash;
    String toSign =
        ALGORITHM
            + "\n"
            + stamp
            + "\n"
            + scope
            + "\n"
            + hex(sha256.digest(canonical.getBytes(ISO_8859_1)));
    String signature = hex(mac.doFinal(toSign.getBytes(ISO_8859_1)));
    out.append("x-amz-date: ").append(stamp);
    out.append("\r\nx-amz-content-sha256: ").append(payloadHash);
    more.forEach((name, value) -> out.append("\r\n").append(name).append(": ").append(value));
    out.append("\r\nAuthorization: " + ALGORITHM + " Credential=")
        .append(target.server().accessKey());
    out.append('/').append(scope).append(", SignedHeaders=").append(names);
    out.append(", Signature=").append(signature).append("\r\n");
  }

  static String hex(byte[] bytes) {
    return HexFormat.of().formatHex(bytes);
  }

  /** The key is derived anew once a day, the timestamp once a second. */
  private void turnTo(Instant now) {
    if (now.getEpochSecond() == second) {
      return;
    }
    second = now.getEpochSecond();
    String before = stamp;
    stamp = STAMP.format(now);
    String day = stamp.substring(0, DAY_CHARS);
    if (before.startsWith(day)) {
      return;
    }
    scope = day + "/" + target.server().region() + "/s3/aws4_request";
    byte[] key = ("AWS4" + target.server().secretKey()).getBytes(UTF_8);
    for (String step : new String[] {day, target.server().region(), "s3", "aws4_request"}) {
      setKey(key);
      key = mac.doFinal(step.getBytes(UTF_8));
    }
    setKey(key);
  }

  private void setKey(byte[] key) {
    try {
      mac.init(new SecretKeySpec(key, "HmacSHA256"));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }
}
