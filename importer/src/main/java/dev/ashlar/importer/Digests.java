package dev.ashlar.importer;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** MD5 as S3 uses it. */
final class Digests {
  private Digests() {}

  static MessageDigest md5() {
    try {
      return MessageDigest.getInstance("MD5");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e); // every JDK has it
    }
  }

  /** As the header Content-MD5 has it. */
  static String base64(String hex) {
    return Base64.getEncoder().encodeToString(HexFormat.of().parseHex(hex));
  }

  /** The ETag of an object of these parts. */
  static String ofParts(List<String> etags) {
    MessageDigest md5 = md5();
    etags.forEach(etag -> md5.update(HexFormat.of().parseHex(etag)));
    return HexFormat.of().formatHex(md5.digest()) + "-" + etags.size();
  }

  /** Without the quotes of headers; empty if there is none. */
  static String unquoted(@Nullable String etag) {
    return etag == null ? "" : etag.replace("\"", "");
  }
}
