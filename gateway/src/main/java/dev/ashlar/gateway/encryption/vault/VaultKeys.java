package dev.ashlar.gateway.encryption.vault;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.ashlar.gateway.encryption.key.DataKey;
import dev.ashlar.gateway.encryption.key.KeyFailures;
import dev.ashlar.gateway.encryption.key.KmsKeys;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.transport.tls.Authorities;
import java.io.IOException;
import java.net.http.HttpClient;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Base64;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Keys of the transit engine. They never leave Vault: it seals data keys and opens them again, with
 * what is bound to them as associated data. Keys that it has opened are remembered for a while.
 */
public final class VaultKeys implements KmsKeys, AutoCloseable {
  private static final Duration CONNECT = Duration.ofSeconds(5);
  private static final byte[] UNKNOWN = {};
  private static final String NO_SUCH_KEY = "encryption key not found";

  private final HttpClient http;
  private final VaultCalls calls;
  private final VaultConfig config;
  private final OpenedKeys opened;

  /**
   * @param authorities null: those that Java trusts
   * @param nanoTime as {@link System#nanoTime}
   */
  public VaultKeys(VaultConfig config, @Nullable Path authorities, LongSupplier nanoTime)
      throws IOException {
    HttpClient.Builder builder =
        HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(CONNECT);
    if (authorities != null) {
      builder.sslContext(Authorities.read(authorities).clientContext());
    }
    this.http = builder.build();
    this.config = config;
    this.calls = new VaultCalls(http, config);
    this.opened = new OpenedKeys(nanoTime);
  }

  @Override
  public Optional<String> standard() {
    return Optional.ofNullable(config.standardKey());
  }

  @Override
  public void requireKnown(String keyId) throws S3Exception, InterruptedException {
    encrypt(keyId, new byte[DataKey.BYTES], UNKNOWN);
  }

  @Override
  public byte[] fingerprint(String keyId) {
    return UNKNOWN;
  }

  @Override
  public String version(String keyId) throws S3Exception, InterruptedException {
    String sealed = new String(encrypt(keyId, new byte[DataKey.BYTES], UNKNOWN), UTF_8);
    return sealed.substring(0, sealed.lastIndexOf(':') + 1);
  }

  @Override
  public byte[] seal(String keyId, DataKey plain, byte[] bound)
      throws S3Exception, InterruptedException {
    byte[] bytes = plain.getEncoded();
    try {
      byte[] sealed = encrypt(keyId, bytes, bound);
      opened.remember(keyId, sealed, bound, bytes);
      return sealed;
    } finally {
      Arrays.fill(bytes, (byte) 0);
    }
  }

  private byte[] encrypt(String keyId, byte[] plain, byte[] bound)
      throws S3Exception, InterruptedException {
    requireName(keyId);
    Base64.Encoder base64 = Base64.getEncoder();
    VaultCalls.Answer answer;
    try {
      answer =
          calls.call(
              "encrypt",
              keyId,
              Map.of(
                  "plaintext",
                  base64.encodeToString(plain),
                  "associated_data",
                  base64.encodeToString(bound)),
              "ciphertext");
    } catch (IOException e) {
      throw KeyFailures.unsealed("Vault at " + config.address() + ": " + e.getMessage());
    }
    if (answer.text() != null) {
      return answer.text().getBytes(UTF_8);
    }
    if (answer.status() == 404
        || answer.error().contains(NO_SUCH_KEY)
        || (answer.status() == 403 && isForOthers(keyId))) {
      throw KeyFailures.unknownKmsKey(keyId);
    }
    throw KeyFailures.unsealed(refusal(keyId, answer));
  }

  /**
   * Whether a 403 is no fault of the server: its token is good, and not for the key of this name,
   * or there is none and the token may not make it. Vault does not tell one from the other.
   */
  private boolean isForOthers(String keyId) throws InterruptedException {
    try {
      return !standard().equals(Optional.of(keyId)) && calls.takesToken();
    } catch (IOException e) {
      return false;
    }
  }

  /** A name that Vault can have, and that stays within its path. */
  private static void requireName(String keyId) throws S3Exception {
    if (!keyId.matches("\\w(([\\w-.]+)?\\w)?")) {
      throw KeyFailures.unknownKmsKey(keyId);
    }
  }

  @Override
  public DataKey open(String keyId, byte[] fingerprint, byte[] sealed, byte[] bound)
      throws S3Exception, InterruptedException {
    DataKey known = opened.find(keyId, sealed, bound);
    if (known != null) {
      return known;
    }
    Base64.Encoder base64 = Base64.getEncoder();
    VaultCalls.Answer answer;
    try {
      answer =
          calls.call(
              "decrypt",
              keyId,
              Map.of(
                  "ciphertext",
                  new String(sealed, UTF_8),
                  "associated_data",
                  base64.encodeToString(bound)),
              "plaintext");
    } catch (IOException e) {
      throw KeyFailures.unreadable(
          "sealed with key %s of Vault at %s: %s"
              .formatted(keyId, config.address(), e.getMessage()));
    }
    byte[] plain = answer.text() == null ? UNKNOWN : decoded(answer.text());
    if (plain.length != DataKey.BYTES) {
      throw KeyFailures.unreadable(refusal(keyId, answer));
    }
    opened.remember(keyId, sealed, bound, plain);
    return DataKey.of(plain);
  }

  private static byte[] decoded(String base64) {
    try {
      return Base64.getDecoder().decode(base64);
    } catch (IllegalArgumentException e) {
      return UNKNOWN;
    }
  }

  private String refusal(String keyId, VaultCalls.Answer answer) {
    return "Vault at %s answered %d for key %s: %s"
        .formatted(
            config.address(),
            answer.status(),
            keyId,
            answer.status() == 200 ? "no key is in the answer" : answer.error());
  }

  @Override
  public void close() {
    http.shutdownNow();
  }
}
