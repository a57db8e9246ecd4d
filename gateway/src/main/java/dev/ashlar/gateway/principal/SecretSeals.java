package dev.ashlar.gateway.principal;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.protobuf.ByteString;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.CredentialRow;
import dev.ashlar.protocol.message.PutAccessKey;
import dev.ashlar.protocol.process.RateLimitedLog;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.LinkedHashMap;
import java.util.Map;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Encrypts the secrets of access keys before they are stored, with AES-256-GCM. A sealed secret is
 * the nonce and what GCM makes of the secret, and is valid for its access key only.
 */
public final class SecretSeals {
  /** Seals nothing, and opens what is not sealed. */
  public static final SecretSeals NONE = new SecretSeals(Map.of());

  public static final int KEY_BYTES = 32;

  private static final Logger LOG = LoggerFactory.getLogger(SecretSeals.class);
  private static final RateLimitedLog UNREADABLE = new RateLimitedLog(LOG, Level.ERROR);
  private static final int NONCE_BYTES = 12;
  private static final int TAG_BITS = 128;
  private static final SecureRandom RANDOM = new SecureRandom();

  private final Map<String, SecretKeySpec> keys = new LinkedHashMap<>();

  /**
   * @param keys by name, {@link #KEY_BYTES} each; the first one seals, all of them open
   */
  public SecretSeals(Map<String, byte[]> keys) {
    keys.forEach(
        (name, key) -> {
          if (name.isEmpty() || key.length != KEY_BYTES) {
            throw new IllegalArgumentException("master key \"" + name + "\" is no AES-256 key");
          }
          this.keys.put(name, new SecretKeySpec(key, "AES"));
        });
  }

  /** Puts the secret of an access key, which the command already names, into the command. */
  public PutAccessKey.Builder put(PutAccessKey.Builder command, String secret) {
    byte[] plain = secret.getBytes(UTF_8);
    if (keys.isEmpty()) {
      return command.setSecret(ByteString.copyFrom(plain)).clearSealedBy();
    }
    Map.Entry<String, SecretKeySpec> key = keys.entrySet().iterator().next();
    byte[] nonce = new byte[NONCE_BYTES];
    RANDOM.nextBytes(nonce);
    try {
      byte[] sealed =
          cipher(Cipher.ENCRYPT_MODE, key.getValue(), nonce, command.getAccessKey()).doFinal(plain);
      return command
          .setSecret(ByteString.copyFrom(nonce).concat(ByteString.copyFrom(sealed)))
          .setSealedBy(key.getKey());
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("a master key cannot encrypt", e);
    }
  }

  /** Whether a secret that is stored so would be stored the same way today. */
  public boolean isCurrent(CredentialRow row) {
    return keys.isEmpty()
        ? row.getSealedBy().isEmpty()
        : row.getSealedBy().equals(keys.keySet().iterator().next());
  }

  /**
   * The secret of an access key, or of a credential from before there were any.
   *
   * @throws MetadataUnavailableException if it was sealed with a key that is not here
   */
  public String open(CredentialRow row) throws MetadataUnavailableException {
    if (row.getSealedBy().isEmpty()) {
      return row.getSecret().isEmpty() ? row.getSecretKey() : row.getSecret().toStringUtf8();
    }
    SecretKeySpec key = keys.get(row.getSealedBy());
    if (key == null || row.getSecret().size() <= NONCE_BYTES) {
      throw unreadable(row, "there is no such key");
    }
    byte[] nonce = row.getSecret().substring(0, NONCE_BYTES).toByteArray();
    byte[] sealed = row.getSecret().substring(NONCE_BYTES).toByteArray();
    try {
      Cipher cipher = cipher(Cipher.DECRYPT_MODE, key, nonce, row.getAccessKey());
      return new String(cipher.doFinal(sealed), UTF_8);
    } catch (GeneralSecurityException e) {
      throw unreadable(row, "the key is another one");
    }
  }

  private static MetadataUnavailableException unreadable(CredentialRow row, String why) {
    UNREADABLE.log(
        "Cannot read the secret of access key %s, sealed with master key %s: %s"
            .formatted(row.getAccessKey(), row.getSealedBy(), why));
    return MetadataUnavailableException.refused("the secret of the access key cannot be read");
  }

  private static Cipher cipher(int mode, SecretKeySpec key, byte[] nonce, String accessKey)
      throws GeneralSecurityException {
    Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
    cipher.init(mode, key, new GCMParameterSpec(TAG_BITS, nonce));
    cipher.updateAAD(accessKey.getBytes(UTF_8));
    return cipher;
  }
}
