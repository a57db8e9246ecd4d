package dev.ashlar.gateway.encryption.vault;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ashlar.gateway.encryption.key.DataKey;
import dev.ashlar.gateway.encryption.key.Encryption;
import dev.ashlar.gateway.encryption.key.KeyWrapping;
import dev.ashlar.gateway.encryption.key.KmsVersions;
import dev.ashlar.gateway.encryption.key.MasterKeys;
import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class VaultKeysTest {
  private static final Encryption KEY_1 = kms("k1");

  @TempDir private Path folder = Path.of("");

  private final AtomicLong nanos = new AtomicLong();
  private FakeVault vault;
  private VaultKeys keys;
  private KeyWrapping wrapping;

  VaultKeysTest() throws Exception {
    vault = new FakeVault("k1", "k2");
    keys = keys(vault, Duration.ofSeconds(20));
    wrapping = wrapping(keys);
  }

  @BeforeEach
  void writeToken() throws Exception {
    Files.writeString(folder.resolve("token"), FakeVault.TOKEN + "\n");
    keys.close();
    keys = keys(vault, Duration.ofSeconds(20));
    wrapping = wrapping(keys);
  }

  @AfterEach
  void close() {
    keys.close();
    vault.close();
  }

  private static Encryption kms(String id) {
    return new Encryption.Kms(id, ByteString.copyFromUtf8("{\"a\":\"1\"}"), false);
  }

  private VaultKeys keys(FakeVault of, Duration timeout) throws Exception {
    return new VaultKeys(
        new VaultConfig(of.address(), "transit", folder.resolve("token"), "k1", timeout),
        null,
        nanos::get);
  }

  private static KeyWrapping wrapping(VaultKeys keys) {
    return new KeyWrapping(MasterKeys.NONE, keys, new SecureRandom(), new SimpleMeterRegistry());
  }

  /** Opened keys are forgotten by then. */
  private void passTime() {
    nanos.addAndGet(OpenedKeys.LIFE.toNanos());
  }

  private S3Error failureToSeal(Encryption how) {
    return assertThrows(S3Exception.class, () -> wrapping.create(how)).error();
  }

  private S3Error failureToOpen(ByteString wrapped) {
    return assertThrows(S3Exception.class, () -> wrapping.open(wrapped, null)).error();
  }

  @Test
  void whatVaultSealsItOpens() throws Exception {
    KeyWrapping.Created created = wrapping.create(KEY_1);
    passTime();
    assertEquals(created.key(), wrapping.open(created.wrapped(), null));
    assertEquals(2, vault.calls());
    assertEquals(Optional.of("k1"), keys.standard());
  }

  @Test
  void openedKeysAreRememberedForAWhile() throws Exception {
    KeyWrapping.Created created = wrapping.create(KEY_1);
    DataKey first = wrapping.open(created.wrapped(), null);
    assertEquals(created.key(), first);
    first.destroy(); // a copy
    assertEquals(created.key(), wrapping.open(created.wrapped(), null));
    assertEquals(1, vault.calls());
    passTime();
    vault.fail(exchange -> FakeVault.answer(exchange, 500, ""));
    assertEquals(S3Error.SERVICE_UNAVAILABLE, failureToOpen(created.wrapped()));
  }

  @Test
  void rememberedKeysAreBounded() {
    OpenedKeys opened = new OpenedKeys(nanos::get);
    byte[] plain = new byte[DataKey.BYTES];
    for (int i = 0; i <= OpenedKeys.ENTRIES_MAX; i++) {
      opened.remember("k", Integer.toString(i).getBytes(UTF_8), new byte[0], plain);
    }
    assertEquals(null, opened.find("k", "0".getBytes(UTF_8), new byte[0]));
    assertTrue(opened.find("k", "1".getBytes(UTF_8), new byte[0]) != null);
    assertEquals(null, opened.find("k", "1".getBytes(UTF_8), new byte[1]));
    assertEquals(null, opened.find("j", "1".getBytes(UTF_8), new byte[0]));
  }

  @ParameterizedTest
  @ValueSource(strings = {"k3", "", "../sys/seal", "a/b", "k1?x", "k1#", "k 1", ".", "-"})
  void unknownKeysAreNotFound(String id) {
    assertEquals(S3Error.KMS_NOT_FOUND, failureToSeal(kms(id)));
    assertEquals(
        S3Error.KMS_NOT_FOUND,
        assertThrows(S3Exception.class, () -> keys.requireKnown(id)).error());
  }

  private static double failures(SimpleMeterRegistry meters, String use) {
    return meters
        .get("ashlar.encryption.key.failures")
        .tags("key", "kms", "use", use)
        .counter()
        .count();
  }

  /** Vault says 403 of them, and of names that it does not know, if the token may not make keys. */
  @Test
  void keysThatAreNotForTheTokenAreNotFound() throws Exception {
    SimpleMeterRegistry meters = new SimpleMeterRegistry();
    wrapping = new KeyWrapping(MasterKeys.NONE, keys, new SecureRandom(), meters);
    KeyWrapping.Created created = wrapping.create(kms("k2"));
    vault.deny("k2", "k3");
    for (String id : List.of("k2", "k3")) {
      assertEquals(S3Error.KMS_NOT_FOUND, failureToSeal(kms(id)));
      assertEquals(
          S3Error.KMS_NOT_FOUND,
          assertThrows(S3Exception.class, () -> keys.requireKnown(id)).error());
    }
    assertEquals(0, failures(meters, "seal"), "any writer could raise the alarm");
    passTime();
    assertEquals(S3Error.SERVICE_UNAVAILABLE, failureToOpen(created.wrapped()));
    assertEquals(1, failures(meters, "open"));
  }

  @Test
  void aTokenThatDoesNotServeIsAFailureOfTheServer() throws Exception {
    SimpleMeterRegistry meters = new SimpleMeterRegistry();
    wrapping = new KeyWrapping(MasterKeys.NONE, keys, new SecureRandom(), meters);
    vault.deny("k1");
    assertEquals(S3Error.SERVICE_UNAVAILABLE, failureToSeal(KEY_1), "the key of the server");
    Files.writeString(folder.resolve("token"), "expired");
    assertEquals(S3Error.SERVICE_UNAVAILABLE, failureToSeal(kms("k2")));
    Files.writeString(folder.resolve("token"), FakeVault.TOKEN);
    vault.fail(
        exchange -> {
          vault.fail(vault::hang); // no answer to what is asked next
          FakeVault.answer(exchange, 403, "{\"errors\":[\"permission denied\"]}");
        });
    keys.close();
    keys = keys(vault, Duration.ofMillis(200));
    wrapping = new KeyWrapping(MasterKeys.NONE, keys, new SecureRandom(), meters);
    assertEquals(S3Error.SERVICE_UNAVAILABLE, failureToSeal(kms("k2")));
    assertEquals(3, failures(meters, "seal"));
  }

  @Test
  void anotherContextDoesNotOpen() throws Exception {
    ByteString wrapped = wrapping.create(KEY_1).wrapped();
    byte[] changed = wrapped.toByteArray();
    int at = wrapped.toStringUtf8().indexOf("\"1\"") + 1;
    changed[at] = '2';
    assertEquals(S3Error.SERVICE_UNAVAILABLE, failureToOpen(ByteString.copyFrom(changed)));
  }

  @ParameterizedTest
  @ValueSource(ints = {400, 403, 404, 429, 500, 503, 302})
  void refusalsAreUnavailability(int status) throws Exception {
    ByteString wrapped = wrapping.create(KEY_1).wrapped();
    passTime();
    vault.fail(
        exchange -> FakeVault.answer(exchange, status, "{\"errors\":[\"permission denied\"]}"));
    assertEquals(S3Error.SERVICE_UNAVAILABLE, failureToOpen(wrapped));
    assertEquals(
        status == 404 ? S3Error.KMS_NOT_FOUND : S3Error.SERVICE_UNAVAILABLE, failureToSeal(KEY_1));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "x",
        "[]",
        "{}",
        "{\"data\":null}",
        "{\"data\":[]}",
        "{\"data\":{}}",
        "{\"data\":{\"plaintext\":1,\"ciphertext\":{}}}",
        "{\"data\":{\"plaintext\":\"AAAA\"}}",
        "{\"data\":{\"plaintext\":\"?\"}}",
        "{\"data\":{\"plaintext\":\"AAAA"
      })
  void garbageIsUnavailability(String garbage) throws Exception {
    ByteString wrapped = wrapping.create(KEY_1).wrapped();
    passTime();
    vault.fail(exchange -> FakeVault.answer(exchange, 200, garbage));
    assertEquals(S3Error.SERVICE_UNAVAILABLE, failureToOpen(wrapped));
    assertEquals(S3Error.SERVICE_UNAVAILABLE, failureToSeal(KEY_1));
  }

  /** An answer without end is left as soon as it is longer than any. */
  @Test
  void hugeAnswersAreUnavailability() throws Exception {
    ByteString wrapped = wrapping.create(KEY_1).wrapped();
    passTime();
    vault.fail(
        exchange -> {
          exchange.sendResponseHeaders(200, 0);
          byte[] piece = new byte[64 << 10];
          try (OutputStream out = exchange.getResponseBody()) {
            for (int i = 0; i < 1 << 14; i++) {
              out.write(piece);
            }
          }
        });
    assertEquals(S3Error.SERVICE_UNAVAILABLE, failureToOpen(wrapped));
    assertEquals(S3Error.SERVICE_UNAVAILABLE, failureToSeal(KEY_1));
  }

  @Test
  void aVaultThatDoesNotAnswerIsNotWaitedFor() throws Exception {
    ByteString wrapped = wrapping.create(KEY_1).wrapped();
    keys.close();
    keys = keys(vault, Duration.ofMillis(50));
    wrapping = wrapping(keys);
    vault.fail(vault::hang);
    assertEquals(S3Error.SERVICE_UNAVAILABLE, failureToOpen(wrapped));
    assertEquals(S3Error.SERVICE_UNAVAILABLE, failureToSeal(KEY_1));
    // Also where the head of an answer comes, and no body.
    vault.fail(
        exchange -> {
          exchange.sendResponseHeaders(200, 100);
          vault.hang(exchange);
        });
    assertEquals(S3Error.SERVICE_UNAVAILABLE, failureToOpen(wrapped));
  }

  @Test
  void aVaultThatIsGoneAffectsNothingElse() throws Exception {
    ByteString wrapped = wrapping.create(KEY_1).wrapped();
    passTime();
    vault.close();
    assertEquals(S3Error.SERVICE_UNAVAILABLE, failureToOpen(wrapped));
    assertEquals(S3Error.SERVICE_UNAVAILABLE, failureToSeal(KEY_1));
  }

  @Test
  void aConnectionThatBreaksIsTriedAgain() throws Exception {
    ByteString wrapped = wrapping.create(KEY_1).wrapped();
    passTime();
    vault.fail(
        exchange -> {
          vault.fail(null);
          exchange.close();
        });
    wrapping.open(wrapped, null);
    assertEquals(3, vault.calls());
  }

  @Test
  void theTokenIsReadForEachCall() throws Exception {
    Files.writeString(folder.resolve("token"), "another");
    assertEquals(S3Error.SERVICE_UNAVAILABLE, failureToSeal(KEY_1));
    Files.writeString(folder.resolve("token"), "line\nbreak");
    assertEquals(S3Error.SERVICE_UNAVAILABLE, failureToSeal(KEY_1));
    Files.delete(folder.resolve("token"));
    assertEquals(S3Error.SERVICE_UNAVAILABLE, failureToSeal(KEY_1));
    Files.writeString(folder.resolve("token"), FakeVault.TOKEN);
    wrapping.create(KEY_1);
  }

  @Test
  void keysThatEarlierVersionsSealedAreRenewed() throws Exception {
    KeyWrapping.Created created = wrapping.create(KEY_1);
    assertTrue(wrapping.renewal(created.wrapped(), new KmsVersions(wrapping.kms())).isEmpty());
    vault.rotate();
    KmsVersions versions = new KmsVersions(wrapping.kms());
    int before = vault.calls();
    Encryption how = wrapping.renewal(created.wrapped(), versions).orElseThrow();
    ByteString renewed = wrapping.rewrap(created.wrapped(), null, how);
    assertTrue(wrapping.renewal(renewed, versions).isEmpty());
    assertEquals(2, vault.calls() - before, "one asks for the version, one seals");
    passTime();
    assertEquals(created.key(), wrapping.open(renewed, null));
  }

  @Test
  void nothingTellsTheToken() throws Exception {
    Files.writeString(folder.resolve("token"), "bad\u0001token");
    S3Exception e = assertThrows(S3Exception.class, () -> wrapping.create(KEY_1));
    assertFalse(String.valueOf(e.getMessage()).contains("token"), e.getMessage());
    assertEquals(null, e.getCause());
  }
}
