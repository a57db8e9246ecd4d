package dev.ashlar.gateway.encryption.key;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.protocol.message.KeyProtection;
import dev.ashlar.protocol.message.WrappedKey;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.ByteArrayOutputStream;
import java.io.NotSerializableException;
import java.io.ObjectOutputStream;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class KeyWrappingTest {
  private static final SecureRandom RANDOM = new SecureRandom();
  private static final ByteString CONTEXT = ByteString.copyFromUtf8("{\"a\":\"1\"}");
  private static final CustomerKey CUSTOMER = new CustomerKey(key(12), "md5");

  private static byte[] key(int fill) {
    byte[] key = new byte[32];
    Arrays.fill(key, (byte) fill);
    return key;
  }

  private static Map<String, byte[]> keys(Object... namesAndFills) {
    Map<String, byte[]> keys = new LinkedHashMap<>();
    for (int i = 0; i < namesAndFills.length; i += 2) {
      keys.put((String) namesAndFills[i], key((Integer) namesAndFills[i + 1]));
    }
    return keys;
  }

  private static KeyWrapping wrapping(Map<String, byte[]> masters, Map<String, byte[]> kms) {
    return new KeyWrapping(
        new MasterKeys(masters), new LocalKmsKeys(kms, RANDOM), RANDOM, new SimpleMeterRegistry());
  }

  private static double failures(SimpleMeterRegistry meters, String key, String use) {
    return meters
        .get("ashlar.encryption.key.failures")
        .tags("key", key, "use", use)
        .counter()
        .count();
  }

  @Test
  void failuresOfTheServersKeysAreCounted() throws Exception {
    SimpleMeterRegistry meters = new SimpleMeterRegistry();
    KeyWrapping keys = new KeyWrapping(MasterKeys.NONE, KmsKeys.NONE, RANDOM, meters);
    KeyWrapping.Created ofMaster = wrapping().create(new Encryption.Master());
    Encryption.Kms kms = new Encryption.Kms("kms-1", CONTEXT, false);
    KeyWrapping.Created ofKms = wrapping().create(kms);
    assertEquals(0, failures(meters, "master", "open"), "there before the first failure");
    assertEquals(S3Error.SERVICE_UNAVAILABLE, failure(keys, ofMaster.wrapped(), null));
    assertEquals(1, failures(meters, "master", "open"));
    assertEquals(S3Error.SERVICE_UNAVAILABLE, failure(keys, ofKms.wrapped(), null));
    assertEquals(1, failures(meters, "kms", "open"));
    ByteString noDocument = ByteString.copyFrom(new byte[] {1});
    assertEquals(S3Error.SERVICE_UNAVAILABLE, failure(keys, noDocument, null));
    assertEquals(1, failures(meters, "unknown", "open"));
    assertEquals(S3Error.SERVICE_UNAVAILABLE, keys.withoutStandardMaster().error());
    assertEquals(1, failures(meters, "master", "seal"));
  }

  @Test
  void faultsOfClientsAreNotCounted() throws Exception {
    SimpleMeterRegistry meters = new SimpleMeterRegistry();
    KeyWrapping keys = new KeyWrapping(MasterKeys.NONE, KmsKeys.NONE, RANDOM, meters);
    KeyWrapping.Created created = keys.create(new Encryption.Customer(CUSTOMER));
    assertEquals(S3Error.INVALID_REQUEST, failure(keys, created.wrapped(), null));
    CustomerKey other = new CustomerKey(key(99), "md5");
    assertEquals(S3Error.INVALID_ARGUMENT, failure(keys, created.wrapped(), other));
    Encryption.Kms unknown = new Encryption.Kms("none", ByteString.EMPTY, false);
    assertThrows(S3Exception.class, () -> keys.create(unknown));
    for (String key : List.of("master", "kms", "customer", "unknown")) {
      for (String use : List.of("open", "seal")) {
        assertEquals(0, failures(meters, key, use), key + " " + use);
      }
    }
  }

  private static KeyWrapping wrapping() {
    return wrapping(keys("m1", 10), keys("kms-1", 11, "kms-2", 13));
  }

  private static KmsVersions versions(KeyWrapping keys) {
    return new KmsVersions(keys.kms());
  }

  static Stream<Encryption> all() {
    return Stream.of(
        new Encryption.Master(),
        new Encryption.Kms("kms-1", ByteString.EMPTY, false),
        new Encryption.Kms("kms-2", CONTEXT, true),
        new Encryption.Customer(CUSTOMER));
  }

  private static @Nullable CustomerKey opener(Encryption how) {
    return how instanceof Encryption.Customer customer ? customer.key() : null;
  }

  private static S3Error failure(KeyWrapping keys, ByteString wrapped, @Nullable CustomerKey with) {
    return assertThrows(S3Exception.class, () -> keys.open(wrapped, with)).error();
  }

  @ParameterizedTest
  @MethodSource("all")
  void whatIsSealedCanBeOpened(Encryption how) throws Exception {
    KeyWrapping.Created created = wrapping().create(how);
    assertEquals(created.key(), wrapping().open(created.wrapped(), opener(how)));
  }

  @ParameterizedTest
  @MethodSource("all")
  void everyObjectHasAnotherKeyAndAnotherSeal(Encryption how) throws Exception {
    KeyWrapping keys = wrapping();
    KeyWrapping.Created one = keys.create(how);
    assertNotEquals(one.key(), keys.create(how).key());
    ByteString again = keys.rewrap(one.wrapped(), opener(how), how);
    assertNotEquals(one.wrapped(), again);
    assertEquals(one.key(), keys.open(again, opener(how)));
  }

  /** The layout is a format: these were made by another program. */
  @ParameterizedTest
  @CsvSource({
    "080112026d311a08e755ce0b250991ed32506465666768696a6b6c6d6e6f7071727370b07eef4bc039c03e7cdfd896a14d29f490e6dd234920806b10e60214f35868a2ef088f8af01f450f586f4633ebd3852c89524bf156aaa420eb8e8b56f47d58",
    "080212056b6d732d311a08e5fdb13df15699b222097b2261223a2231227d280132506465666768696a6b6c6d6e6f70717273e27872aa5e7c3d29ef83a2abbca481b210c5f98c9bf97ecdac0f1193dac239d192bc1d8ad7fd03d0445cb25bb432b1b38b94e3980a2ec36614e3b6c7f8b9f00a",
    "080332506465666768696a6b6c6d6e6f70717273683d5eca0a4521490753a86a012e4b4d54b2f12556df1bbc838f901bbb54036d17c47ca322252b15827f860f3eb1591f663a9fe79c04de4127d5c14e3d54c8ed"
  })
  void documentsOfVersionOneStayReadable(String hex) throws Exception {
    ByteString wrapped = ByteString.copyFrom(HexFormat.of().parseHex(hex));
    boolean isOfCustomer = WrappedKey.parseFrom(wrapped).getKey().isEmpty();
    byte[] expected = new byte[32];
    for (int i = 0; i < expected.length; i++) {
      expected[i] = (byte) i;
    }
    DataKey key = wrapping().open(wrapped, isOfCustomer ? CUSTOMER : null);
    assertArrayEquals(expected, key.getEncoded());
  }

  /** Each bit, too: no change leaves a key that opens, whoever asks. */
  @ParameterizedTest
  @MethodSource("all")
  void changedDocumentsDoNotOpen(Encryption how) throws Exception {
    KeyWrapping keys = wrapping();
    byte[] wrapped = keys.create(how).wrapped().toByteArray();
    for (int i = 0; i < wrapped.length; i++) {
      for (int bit = 0; bit < 8; bit++) {
        byte[] changed = wrapped.clone();
        changed[i] ^= (byte) (1 << bit);
        if (!isSame(wrapped, changed)) {
          requireUnopened(keys, changed);
        }
      }
      requireUnopened(keys, Arrays.copyOf(wrapped, i));
    }
  }

  /** There are several ways to write down that something is true. */
  private static boolean isSame(byte[] wrapped, byte[] changed) {
    try {
      return WrappedKey.parseFrom(changed).equals(WrappedKey.parseFrom(wrapped));
    } catch (InvalidProtocolBufferException e) {
      return false;
    }
  }

  private static void requireUnopened(KeyWrapping keys, byte[] changed) {
    for (CustomerKey customer : Arrays.asList(null, CUSTOMER)) {
      S3Error error = failure(keys, ByteString.copyFrom(changed), customer);
      List<S3Error> expected =
          customer == null
              ? List.of(S3Error.SERVICE_UNAVAILABLE, S3Error.INVALID_REQUEST)
              : List.of(
                  S3Error.SERVICE_UNAVAILABLE, S3Error.INVALID_REQUEST, S3Error.INVALID_ARGUMENT);
      assertTrue(expected.contains(error), error.toString());
    }
  }

  private static ByteString with(ByteString wrapped, UnaryOperator<WrappedKey.Builder> change)
      throws Exception {
    return change.apply(WrappedKey.parseFrom(wrapped).toBuilder()).build().toByteString();
  }

  /** Fields are bound to the key: it cannot be passed off as another one's. */
  @Test
  void anotherModeKeyOrContextDoesNotOpen() throws Exception {
    KeyWrapping keys = wrapping(keys("m1", 10, "kms-1", 11), keys("kms-1", 11, "twin", 11));
    ByteString kms = keys.create(new Encryption.Kms("kms-1", CONTEXT, true)).wrapped();
    List<ByteString> changed =
        List.of(
            with(kms, key -> key.setContext(ByteString.copyFromUtf8("{\"a\":\"2\"}"))),
            with(kms, WrappedKey.Builder::clearContext),
            with(kms, WrappedKey.Builder::clearBucketKey),
            with(kms, key -> key.setKey("twin")),
            with(kms, key -> key.setProtection(KeyProtection.KEY_PROTECTION_MASTER)));
    for (ByteString each : changed) {
      assertEquals(S3Error.SERVICE_UNAVAILABLE, failure(keys, each, null));
    }
    ByteString customer =
        with(
            keys.create(new Encryption.Customer(new CustomerKey(key(10), "md5"))).wrapped(),
            key ->
                key.setProtection(KeyProtection.KEY_PROTECTION_MASTER)
                    .setKey("m1")
                    .setFingerprint(ByteString.copyFrom(new SealingKey(key(10)).fingerprint())));
    assertEquals(S3Error.SERVICE_UNAVAILABLE, failure(keys, customer, null));
  }

  @Test
  void clientsBringTheirKeyOrNone() throws Exception {
    KeyWrapping keys = wrapping();
    ByteString customer = keys.create(new Encryption.Customer(CUSTOMER)).wrapped();
    assertEquals(S3Error.INVALID_REQUEST, failure(keys, customer, null));
    CustomerKey another = new CustomerKey(key(77), "md5");
    assertEquals(S3Error.INVALID_ARGUMENT, failure(keys, customer, another));
    ByteString master = keys.create(new Encryption.Master()).wrapped();
    assertEquals(S3Error.INVALID_REQUEST, failure(keys, master, CUSTOMER));
  }

  @Test
  void aMissingOrWrongMasterKeyIsUnavailability() throws Exception {
    ByteString wrapped = wrapping().create(new Encryption.Master()).wrapped();
    for (Map<String, byte[]> masters : List.of(keys(), keys("m1", 99), keys("m2", 20, "m1", 99))) {
      assertEquals(S3Error.SERVICE_UNAVAILABLE, failure(wrapping(masters, keys()), wrapped, null));
    }
    ByteString kms =
        wrapping().create(new Encryption.Kms("kms-1", ByteString.EMPTY, false)).wrapped();
    for (Map<String, byte[]> other : List.of(keys(), keys("kms-2", 13), keys("kms-1", 99))) {
      assertEquals(S3Error.SERVICE_UNAVAILABLE, failure(wrapping(keys(), other), kms, null));
    }
  }

  /** Whatever it is called now, and whatever has its name. */
  @Test
  void aKeyIsFoundByItsFingerprint() throws Exception {
    KeyWrapping.Created master = wrapping().create(new Encryption.Master());
    for (Map<String, byte[]> masters : List.of(keys("m2", 10), keys("m1", 99, "m2", 10))) {
      assertEquals(master.key(), wrapping(masters, keys()).open(master.wrapped(), null));
    }
    KeyWrapping.Created kms = wrapping().create(new Encryption.Kms("kms-1", CONTEXT, true));
    for (Map<String, byte[]> other : List.of(keys("new", 11), keys("kms-1", 99, "old", 11))) {
      assertEquals(kms.key(), wrapping(keys(), other).open(kms.wrapped(), null));
    }
  }

  @Test
  void anotherKeyOfTheSameNameIsAReasonToRenew() throws Exception {
    KeyWrapping later = wrapping(keys("m1", 99, "old", 10), keys("kms-1", 98, "old", 11));
    Encryption ofKms = new Encryption.Kms("kms-1", CONTEXT, true);
    for (Encryption how : List.of(new Encryption.Master(), ofKms)) {
      KeyWrapping.Created created = wrapping().create(how);
      Encryption wanted = later.renewal(created.wrapped(), versions(later)).orElseThrow();
      assertEquals(how, wanted);
      ByteString renewed = later.rewrap(created.wrapped(), null, wanted);
      assertTrue(later.renewal(renewed, versions(later)).isEmpty());
      KeyWrapping last = wrapping(keys("m1", 99), keys("kms-1", 98));
      assertEquals(created.key(), last.open(renewed, null));
    }
  }

  @Test
  void withoutKeysNothingIsSealed() {
    KeyWrapping none = wrapping(keys(), keys());
    assertEquals(
        S3Error.NOT_IMPLEMENTED,
        assertThrows(S3Exception.class, () -> none.create(new Encryption.Master())).error());
    assertEquals(
        S3Error.KMS_NOT_FOUND,
        assertThrows(
                S3Exception.class,
                () -> none.create(new Encryption.Kms("kms-1", ByteString.EMPTY, false)))
            .error());
  }

  @Test
  void theFirstMasterKeySealsAndEarlierOnesOpen() throws Exception {
    ByteString old = wrapping().create(new Encryption.Master()).wrapped();
    KeyWrapping rotated = wrapping(keys("m2", 20, "m1", 10), keys());
    DataKey key = rotated.open(old, null);
    Encryption how = rotated.renewal(old, versions(rotated)).orElseThrow();
    ByteString renewed = rotated.rewrap(old, null, how);
    assertTrue(rotated.renewal(renewed, versions(rotated)).isEmpty());
    // The earlier key is needed no longer.
    assertEquals(key, wrapping(keys("m2", 20), keys()).open(renewed, null));
    assertEquals("m2", KeyDescription.of(renewed).orElseThrow().keyId());
  }

  @ParameterizedTest
  @MethodSource("all")
  void whatIsUpToDateIsNotRenewed(Encryption how) throws Exception {
    KeyWrapping keys = wrapping();
    assertTrue(keys.renewal(keys.create(how).wrapped(), versions(keys)).isEmpty());
  }

  @ParameterizedTest
  @MethodSource("all")
  void aKeyCanBeSealedWithAnythingElse(Encryption from) throws Exception {
    KeyWrapping keys = wrapping();
    KeyWrapping.Created created = keys.create(from);
    for (Encryption to : all().toList()) {
      ByteString again = keys.rewrap(created.wrapped(), opener(from), to);
      assertEquals(created.key(), keys.open(again, opener(to)));
      if (from instanceof Encryption.Customer != to instanceof Encryption.Customer) {
        assertThrows(S3Exception.class, () -> keys.rewrap(again, opener(from), from));
      }
    }
  }

  @Test
  void descriptionsNeedNoKey() throws Exception {
    ByteString kms = wrapping().create(new Encryption.Kms("kms-2", CONTEXT, true)).wrapped();
    assertEquals(
        new KeyDescription(KeyProtection.KEY_PROTECTION_KMS, "kms-2", CONTEXT, true),
        KeyDescription.of(kms).orElseThrow());
    assertTrue(KeyDescription.of(ByteString.EMPTY).isEmpty());
    assertTrue(KeyDescription.of(ByteString.copyFrom(new byte[] {1, 2, 3})).isEmpty());
    assertTrue(KeyDescription.of(ByteString.copyFrom(new byte[] {8, 99})).isEmpty());
  }

  @Test
  void keysAreNotShown() throws Exception {
    KeyWrapping keys = wrapping();
    KeyWrapping.Created created = keys.create(new Encryption.Customer(CUSTOMER));
    String shown =
        List.of(
                created,
                created.key(),
                CUSTOMER,
                new Encryption.Customer(CUSTOMER),
                new SealingKey(key(10)),
                new MasterKeys(keys("m1", 10)).fingerprints())
            .toString();
    String hex = HexFormat.of().formatHex(created.key().getEncoded());
    assertFalse(shown.contains(hex.substring(0, 8)), shown);
    assertFalse(shown.contains("0a0a0a0a"), shown);
    assertFalse(shown.contains("0c0c0c0c"), shown);
    try (ObjectOutputStream out = new ObjectOutputStream(new ByteArrayOutputStream())) {
      assertThrows(NotSerializableException.class, () -> out.writeObject(created.key()));
    }
  }

  @Test
  void aDestroyedKeyIsGone() throws Exception {
    DataKey key = wrapping().create(new Encryption.Master()).key();
    byte[] before = key.getEncoded();
    key.destroy();
    assertFalse(Arrays.equals(before, key.getEncoded()));
  }
}
