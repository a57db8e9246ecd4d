package dev.ashlar.gateway.encryption.key;

import java.io.NotSerializableException;
import java.io.ObjectOutputStream;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Arrays;
import javax.crypto.SecretKey;

/**
 * The key that the bytes of one object are encrypted with: AES-256. It exists in memory only while
 * a request needs it; what is stored is sealed by {@link KeyWrapping}.
 */
public final class DataKey implements SecretKey {
  public static final int BYTES = 32;
  private static final long serialVersionUID = 1;

  private final transient byte[] bytes;

  private DataKey(byte[] bytes) {
    if (bytes.length != BYTES) {
      throw new IllegalArgumentException("a data key has " + BYTES + " bytes");
    }
    this.bytes = bytes;
  }

  static DataKey random(SecureRandom random) {
    byte[] bytes = new byte[BYTES];
    random.nextBytes(bytes);
    return new DataKey(bytes);
  }

  /**
   * @param bytes not to be used by others from now on
   */
  public static DataKey of(byte[] bytes) {
    return new DataKey(bytes);
  }

  @Override
  public String getAlgorithm() {
    return "AES";
  }

  @Override
  public String getFormat() {
    return "RAW";
  }

  /** A copy. */
  @Override
  public byte[] getEncoded() {
    return bytes.clone();
  }

  /** Forgets the key. Ciphers that were initialized with it keep their copy. */
  @Override
  public void destroy() {
    Arrays.fill(bytes, (byte) 0);
  }

  private void writeObject(ObjectOutputStream out) throws NotSerializableException {
    throw new NotSerializableException(DataKey.class.getName());
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof DataKey key && MessageDigest.isEqual(bytes, key.bytes);
  }

  @Override
  public int hashCode() {
    return DataKey.class.hashCode();
  }

  @Override
  public String toString() {
    return "DataKey";
  }
}
