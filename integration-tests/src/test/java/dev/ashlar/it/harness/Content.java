package dev.ashlar.it.harness;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.SplittableRandom;

/** Bytes that follow from a seed, so that the tests keep eight of them. */
public record Content(long seed, int length) {
  public byte[] bytes() {
    byte[] bytes = new byte[length];
    new SplittableRandom(seed).nextBytes(bytes);
    return bytes;
  }

  public String sha256() {
    return sha256(bytes());
  }

  public static String sha256(byte[] bytes) {
    return HexFormat.of().formatHex(digest("SHA-256", bytes));
  }

  public static byte[] digest(String algorithm, byte[] bytes) {
    try {
      return MessageDigest.getInstance(algorithm).digest(bytes);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }
}
