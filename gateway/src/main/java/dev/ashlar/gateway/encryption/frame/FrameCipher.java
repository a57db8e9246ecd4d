package dev.ashlar.gateway.encryption.frame;

import dev.ashlar.protocol.layout.EncryptedRuns;
import dev.ashlar.protocol.layout.FrameLayout;
import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import javax.crypto.AEADBadTagException;
import javax.crypto.Cipher;
import javax.crypto.SecretKey;
import javax.crypto.spec.GCMParameterSpec;

/**
 * Encrypts and decrypts single frames with AES-256-GCM. A frame is a fresh nonce, what GCM makes of
 * the plain bytes, and its tag; the id of the run and the number of the frame are its associated
 * data. Arrays, because for them the JDK has the fast instructions. Used by one thread.
 */
final class FrameCipher {
  private static final SecureRandom RANDOM = new SecureRandom();
  private static final int NONCE_BYTES = FrameLayout.NONCE_BYTES;
  private static final int TAG_BYTES = FrameLayout.TAG_BYTES;

  private final SecretKey key;
  private final Cipher cipher;
  private final ByteBuffer associated = ByteBuffer.allocate(EncryptedRuns.ID_BYTES + Long.BYTES);

  /**
   * @param key of AES-256
   */
  FrameCipher(SecretKey key) {
    this.key = key;
    try {
      cipher = Cipher.getInstance("AES/GCM/NoPadding");
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java has AES-GCM", e);
    }
  }

  /**
   * Makes a frame of plain bytes, in place.
   *
   * @param bytes with the plain bytes behind the room for the nonce, and room for the tag behind
   *     them; afterwards they begin with the stored bytes
   */
  void seal(Frame frame, byte[] bytes) {
    byte[] nonce = new byte[NONCE_BYTES];
    RANDOM.nextBytes(nonce);
    System.arraycopy(nonce, 0, bytes, 0, NONCE_BYTES);
    try {
      begin(Cipher.ENCRYPT_MODE, frame, bytes);
      cipher.doFinal(bytes, NONCE_BYTES, frame.plainLength(), bytes, NONCE_BYTES);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("a data key cannot encrypt", e);
    }
  }

  /**
   * Decrypts the first bytes of {@code stored} into the first bytes of {@code plain}; false if they
   * are not this frame, whole and unchanged: then what is in {@code plain} means nothing.
   */
  boolean open(Frame frame, byte[] stored, byte[] plain) {
    try {
      begin(Cipher.DECRYPT_MODE, frame, stored);
      cipher.doFinal(stored, NONCE_BYTES, frame.plainLength() + TAG_BYTES, plain, 0);
      return true;
    } catch (AEADBadTagException e) {
      return false;
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("a data key cannot decrypt", e);
    }
  }

  private void begin(int mode, Frame frame, byte[] stored) throws GeneralSecurityException {
    cipher.init(mode, key, new GCMParameterSpec(TAG_BYTES * Byte.SIZE, stored, 0, NONCE_BYTES));
    associated.clear();
    frame.run().copyTo(associated);
    cipher.updateAAD(associated.putLong(frame.number()).flip());
  }
}
