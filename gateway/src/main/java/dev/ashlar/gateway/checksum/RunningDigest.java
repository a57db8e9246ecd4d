package dev.ashlar.gateway.checksum;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.zip.Checksum;
import org.jspecify.annotations.Nullable;

/** A digest or checksum over bytes as they pass. */
public abstract class RunningDigest {
  private byte @Nullable [] value;

  /** Reads the buffer to its limit. */
  public abstract void update(ByteBuffer bytes);

  abstract byte[] compute();

  /** The digest of all bytes so far, which must be the last ones. */
  public final byte[] value() {
    byte[] known = value;
    if (known == null) {
      known = compute();
      value = known;
    }
    return known;
  }

  public static RunningDigest of(MessageDigest digest) {
    return new RunningDigest() {
      @Override
      public void update(ByteBuffer bytes) {
        digest.update(bytes);
      }

      @Override
      byte[] compute() {
        return digest.digest();
      }
    };
  }

  static RunningDigest of(Checksum checksum, int length) {
    return new RunningDigest() {
      @Override
      public void update(ByteBuffer bytes) {
        checksum.update(bytes);
      }

      @Override
      byte[] compute() {
        return bigEndian(checksum.getValue(), length);
      }
    };
  }

  /** The form in which S3 writes numbers. */
  static byte[] bigEndian(long crc, int length) {
    byte[] value = new byte[length];
    long bits = crc;
    for (int i = length - 1; i >= 0; i--) {
      value[i] = (byte) bits;
      bits >>>= 8;
    }
    return value;
  }
}
