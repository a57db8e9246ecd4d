package dev.ashlar.gateway.encryption.key;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Collection;
import java.util.HexFormat;
import java.util.concurrent.LinkedBlockingDeque;
import javax.crypto.AEADBadTagException;
import javax.crypto.Cipher;
import javax.crypto.Mac;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * A key of 32 bytes that seals data keys. Each data key is sealed by a key of its own, which
 * HMAC-SHA256 derives from this one and a random salt, with AES-256-GCM: so there is no limit to
 * how many it seals.
 *
 * <p>Sealed, a data key is: salt 16 | mark 16 | key 32 | tag 16. The mark tells another key from
 * damaged bytes, and tells nothing else.
 */
final class SealingKey {
  static final int BYTES = 32;
  private static final int SALT_BYTES = 16;
  private static final int MARK_BYTES = 16;
  private static final int TAG_BYTES = 16;
  private static final int HEAD_BYTES = SALT_BYTES + MARK_BYTES;
  private static final int SEALED_BYTES = HEAD_BYTES + DataKey.BYTES + TAG_BYTES;
  private static final int FINGERPRINT_BYTES = 8;

  private static final byte[] SEAL = "ashlar data key 1: seal".getBytes(US_ASCII);
  private static final byte[] MARK = "ashlar data key 1: mark".getBytes(US_ASCII);
  private static final byte[] NAME = "ashlar data key 1: name".getBytes(US_ASCII);

  /** Making one costs more than a use. Each is used by one thread at a time. */
  private static final LinkedBlockingDeque<Cipher> IDLE =
      new LinkedBlockingDeque<>(Runtime.getRuntime().availableProcessors());

  /** Each derived key encrypts once. */
  private static final GCMParameterSpec NONCE = new GCMParameterSpec(TAG_BYTES * 8, new byte[12]);

  /** With the key in it; each use is one of a copy, which costs less than a new one. */
  private final Mac mac;

  private final byte[] fingerprint;

  SealingKey(byte[] key) {
    if (key.length != BYTES) {
      throw new IllegalArgumentException("a key that seals has " + BYTES + " bytes");
    }
    try {
      this.mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(key, "HmacSHA256"));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java has HMAC-SHA256", e);
    }
    this.fingerprint = Arrays.copyOf(derived(NAME, new byte[0]), FINGERPRINT_BYTES);
  }

  /** Tells keys apart, in documents and in logs. It says nothing else about the key. */
  byte[] fingerprint() {
    return fingerprint.clone();
  }

  /** The one of these that has this fingerprint; null: none has. */
  static @Nullable SealingKey of(byte[] fingerprint, Collection<SealingKey> keys) {
    for (SealingKey key : keys) {
      if (Arrays.equals(key.fingerprint, fingerprint)) {
        return key;
      }
    }
    return null;
  }

  static String text(byte[] fingerprint) {
    return HexFormat.of().formatHex(fingerprint);
  }

  /**
   * @param bound what has to be the same when it is opened
   */
  byte[] seal(DataKey plain, byte[] bound, SecureRandom random) {
    byte[] salt = new byte[SALT_BYTES];
    random.nextBytes(salt);
    byte[] bytes = plain.getEncoded();
    try {
      byte[] sealed = Arrays.copyOf(salt, SEALED_BYTES);
      System.arraycopy(derived(MARK, salt), 0, sealed, SALT_BYTES, MARK_BYTES);
      Cipher cipher = cipher(Cipher.ENCRYPT_MODE, sealed, bound);
      cipher.doFinal(bytes, 0, bytes.length, sealed, HEAD_BYTES);
      IDLE.offerFirst(cipher);
      return sealed;
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("a data key cannot be sealed", e);
    } finally {
      Arrays.fill(bytes, (byte) 0);
    }
  }

  /** Whether this key, and no other one, sealed these bytes; undamaged or not. */
  boolean sealed(byte[] sealed) {
    if (sealed.length != SEALED_BYTES) {
      return false;
    }
    byte[] mark = Arrays.copyOf(derived(MARK, Arrays.copyOf(sealed, SALT_BYTES)), MARK_BYTES);
    return MessageDigest.isEqual(mark, Arrays.copyOfRange(sealed, SALT_BYTES, HEAD_BYTES));
  }

  /**
   * @throws DamagedKeyException if another key sealed it, with something else bound to it, or it
   *     was changed since
   */
  DataKey open(byte[] sealed, byte[] bound) throws DamagedKeyException {
    if (sealed.length != SEALED_BYTES) {
      throw new DamagedKeyException("it has another length");
    }
    try {
      Cipher cipher = cipher(Cipher.DECRYPT_MODE, sealed, bound);
      DataKey key = DataKey.of(cipher.doFinal(sealed, HEAD_BYTES, DataKey.BYTES + TAG_BYTES));
      IDLE.offerFirst(cipher);
      return key;
    } catch (AEADBadTagException e) {
      throw new DamagedKeyException("it does not match its key");
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("a data key cannot be opened", e);
    }
  }

  /**
   * @param sealed with salt and mark
   */
  private Cipher cipher(int mode, byte[] sealed, byte[] bound) throws GeneralSecurityException {
    Cipher idle = IDLE.pollFirst();
    Cipher cipher = idle == null ? Cipher.getInstance("AES/GCM/NoPadding") : idle;
    byte[] once = derived(SEAL, Arrays.copyOf(sealed, SALT_BYTES));
    cipher.init(mode, new SecretKeySpec(once, "AES"), NONCE);
    cipher.updateAAD(bound);
    cipher.updateAAD(sealed, 0, HEAD_BYTES);
    return cipher;
  }

  private byte[] derived(byte[] purpose, byte[] salt) {
    try {
      Mac copy = (Mac) mac.clone();
      copy.update(purpose);
      return copy.doFinal(salt);
    } catch (CloneNotSupportedException e) {
      throw new IllegalStateException("the HMAC of Java can be copied", e);
    }
  }

  @Override
  public String toString() {
    return "SealingKey " + text(fingerprint);
  }
}
