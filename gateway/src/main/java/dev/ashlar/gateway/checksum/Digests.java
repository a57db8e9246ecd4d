package dev.ashlar.gateway.checksum;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/** Message digests. Those of SHA-256 are clones, which saves a provider look-up per use. */
public final class Digests {
  public static final String SHA256_OF_NOTHING =
      "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
  private static final MessageDigest FRESH = instance("SHA-256");

  private Digests() {}

  public static MessageDigest sha256() {
    return copy(FRESH);
  }

  public static String sha256Hex(byte[] bytes) {
    return HexFormat.of().formatHex(sha256().digest(bytes));
  }

  public static MessageDigest md5() {
    return instance("MD5");
  }

  public static MessageDigest copy(MessageDigest digest) {
    try {
      return (MessageDigest) digest.clone();
    } catch (CloneNotSupportedException e) {
      throw new IllegalStateException("this JDK's SHA-256 cannot be cloned", e);
    }
  }

  static MessageDigest instance(String algorithm) {
    try {
      return MessageDigest.getInstance(algorithm);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Null if the text is malformed. */
  public static byte @Nullable [] decodeBase64(String text) {
    try {
      return Base64.getDecoder().decode(text);
    } catch (IllegalArgumentException malformed) {
      return null;
    }
  }
}
