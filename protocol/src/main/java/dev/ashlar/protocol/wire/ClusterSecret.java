package dev.ashlar.protocol.wire;

import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** The secret that the processes of one cluster share. */
public final class ClusterSecret {
  /** A shorter one could be guessed. */
  public static final int BYTES_MIN = 16;

  private static final String ALGORITHM = "HmacSHA256";

  private final SecretKeySpec key;

  public ClusterSecret(byte[] secret) {
    if (secret.length < BYTES_MIN) {
      throw new IllegalArgumentException(
          "the cluster secret needs at least " + BYTES_MIN + " bytes, not " + secret.length);
    }
    key = new SecretKeySpec(secret, ALGORITHM);
  }

  /** HMAC-SHA-256 over the label and the parts, whose lengths must be fixed. */
  byte[] mac(String label, byte[]... parts) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(key);
      mac.update(WireValues.text(label));
      mac.update((byte) 0);
      for (byte[] part : parts) {
        mac.update(part);
      }
      return mac.doFinal();
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java has " + ALGORITHM, e);
    }
  }

  static boolean matches(byte[] expected, byte[] proof) {
    return MessageDigest.isEqual(expected, proof);
  }

  @Override
  public String toString() {
    return "a cluster secret";
  }
}
