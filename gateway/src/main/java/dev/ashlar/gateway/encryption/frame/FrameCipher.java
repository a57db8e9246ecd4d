package dev.ashlar.gateway.encryption.frame;

import dev.ashlar.protocol.layout.EncryptedRuns;
import dev.ashlar.protocol.layout.FrameLayout;
import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.concurrent.LinkedBlockingDeque;
import javax.crypto.AEADBadTagException;
import javax.crypto.Cipher;
import javax.crypto.SecretKey;
import javax.crypto.spec.GCMParameterSpec;

/**
 * Encrypts and decrypts single frames with AES-256-GCM. A frame is a fresh nonce, what GCM makes of
 * the plain bytes, and its tag; the id of the run and the number of the frame are its associated
 * data. Arrays, because for them the JDK has the fast instructions.
 *
 * <p>One is {@link #take taken} for a single frame, used by one thread that does not wait
 * meanwhile, and {@link #giveBack given back}. So there are hardly more of them than processors,
 * however many requests run. Who has opened frames with it {@link #forget clears} the plain bytes
 * in the end: it may be long until others overwrite them.
 */
final class FrameCipher {
  private static final SecureRandom RANDOM = new SecureRandom();
  private static final int NONCE_BYTES = FrameLayout.NONCE_BYTES;
  private static final int TAG_BYTES = FrameLayout.TAG_BYTES;

  /** The one that was used last is taken first: its arrays are in the processor's cache. */
  private static final LinkedBlockingDeque<FrameCipher> IDLE =
      new LinkedBlockingDeque<>(Runtime.getRuntime().availableProcessors());

  private final Cipher cipher;
  private final byte[] stored = new byte[FrameLayout.FRAME_BYTES];
  private final byte[] plain = new byte[FrameLayout.PLAIN_BYTES];
  private final ByteBuffer associated = ByteBuffer.allocate(EncryptedRuns.ID_BYTES + Long.BYTES);

  /** Bytes of {@link #plain} that may be of frames. */
  private int plainLength;

  private FrameCipher() {
    try {
      cipher = Cipher.getInstance("AES/GCM/NoPadding");
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java has AES-GCM", e);
    }
  }

  static FrameCipher take() {
    FrameCipher idle = IDLE.pollFirst();
    return idle == null ? new FrameCipher() : idle;
  }

  void giveBack() {
    if (!IDLE.offerFirst(this)) {
      clear();
    }
  }

  /** Clears the plain bytes, unless others have taken it: then that is up to them. */
  void forget() {
    if (IDLE.remove(this)) {
      clear();
      giveBack();
    }
  }

  private void clear() {
    Arrays.fill(plain, 0, plainLength, (byte) 0);
    plainLength = 0;
  }

  /** Where {@link #open} expects the bytes of a frame, from the first on. */
  byte[] stored() {
    return stored;
  }

  /** Where {@link #open} leaves the plain bytes, from the first on. */
  byte[] plain() {
    return plain;
  }

  /**
   * Makes a frame of plain bytes, in place.
   *
   * @param key of AES-256
   * @param bytes with the plain bytes behind the room for the nonce, and room for the tag behind
   *     them; afterwards they begin with the stored bytes
   */
  void seal(SecretKey key, Frame frame, byte[] bytes) {
    clear(); // a read that ended while this cipher was taken could not
    byte[] nonce = new byte[NONCE_BYTES];
    RANDOM.nextBytes(nonce);
    System.arraycopy(nonce, 0, bytes, 0, NONCE_BYTES);
    try {
      begin(Cipher.ENCRYPT_MODE, key, frame, bytes);
      cipher.doFinal(bytes, NONCE_BYTES, frame.plainLength(), bytes, NONCE_BYTES);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("a data key cannot encrypt", e);
    }
  }

  /**
   * Decrypts what is in {@link #stored} into {@link #plain}; false if it is not this frame, whole
   * and unchanged: then what is in {@code plain} means nothing.
   */
  boolean open(SecretKey key, Frame frame) {
    plainLength = Math.max(plainLength, frame.plainLength());
    try {
      begin(Cipher.DECRYPT_MODE, key, frame, stored);
      cipher.doFinal(stored, NONCE_BYTES, frame.plainLength() + TAG_BYTES, plain, 0);
      return true;
    } catch (AEADBadTagException e) {
      return false;
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("a data key cannot decrypt", e);
    }
  }

  private void begin(int mode, SecretKey key, Frame frame, byte[] nonce)
      throws GeneralSecurityException {
    cipher.init(mode, key, new GCMParameterSpec(TAG_BYTES * Byte.SIZE, nonce, 0, NONCE_BYTES));
    associated.clear();
    frame.run().copyTo(associated);
    cipher.updateAAD(associated.putLong(frame.number()).flip());
  }
}
