package dev.ashlar.gateway.checksum;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** SHA-256 without a provider look-up per use: clones of digests that are never touched. */
public final class Sha256 {
  public static final String EMPTY_HEX =
      "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
  private static final MessageDigest FRESH = instance("SHA-256");

  private Sha256() {}

  public static MessageDigest fresh() {
    return copy(FRESH);
  }

  public static String hex(byte[] bytes) {
    return HexFormat.of().formatHex(fresh().digest(bytes));
  }

  public static MessageDigest copy(MessageDigest digest) {
    try {
      return (MessageDigest) digest.clone();
    } catch (CloneNotSupportedException e) {
      throw new IllegalStateException("this JDK's SHA-256 cannot be cloned", e);
    }
  }

  public static MessageDigest instance(String algorithm) {
    try {
      return MessageDigest.getInstance(algorithm);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }
}
