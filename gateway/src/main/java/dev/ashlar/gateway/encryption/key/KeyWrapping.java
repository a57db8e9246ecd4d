package dev.ashlar.gateway.encryption.key;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.protocol.message.KeyProtection;
import dev.ashlar.protocol.message.WrappedKey;
import io.micrometer.core.instrument.MeterRegistry;
import java.security.SecureRandom;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Makes data keys, and seals them for metadata. Sealed, a key is a {@link WrappedKey}, whose only
 * owner this is. Thread-safe.
 */
public final class KeyWrapping {
  private final MasterKeys masters;
  private final KmsKeys kms;
  private final SecureRandom random;
  private final KeyMeters meters;

  public KeyWrapping(MasterKeys masters, KmsKeys kms, SecureRandom random, MeterRegistry registry) {
    this.masters = masters;
    this.kms = kms;
    this.random = random;
    this.meters = new KeyMeters(registry);
  }

  /** A data key, and how it is stored. */
  public record Created(DataKey key, ByteString wrapped) {
    @Override
    public String toString() {
      return "Created";
    }
  }

  public MasterKeys masters() {
    return masters;
  }

  public KmsKeys kms() {
    return kms;
  }

  /**
   * A new data key for an object or an upload.
   *
   * @throws S3Exception NotImplemented without a master key, KMS.NotFoundException, or
   *     ServiceUnavailable if the key management does not answer
   */
  public Created create(Encryption how) throws S3Exception, InterruptedException {
    DataKey key = DataKey.random(random);
    return new Created(key, wrap(key, how));
  }

  /** The same data key, sealed with something else. The bytes of its object stay as they are. */
  public ByteString rewrap(ByteString wrapped, @Nullable CustomerKey present, Encryption how)
      throws S3Exception, InterruptedException {
    DataKey key = open(wrapped, present);
    try {
      return wrap(key, how);
    } finally {
      key.destroy();
    }
  }

  /**
   * How a stored key is to be sealed anew, because an earlier master key, or an earlier version of
   * its KMS key, has sealed it. Empty: it need not be.
   *
   * @param versions of KMS keys
   * @throws S3Exception ServiceUnavailable
   */
  public Optional<Encryption> renewal(ByteString wrapped, KmsVersions versions)
      throws S3Exception, InterruptedException {
    WrappedKey key = parsed(wrapped);
    return switch (key.getProtection()) {
      case KEY_PROTECTION_MASTER -> {
        String current = masters.current();
        SealingKey sealing = current == null ? null : masters.named(current);
        yield sealing == null
                || (key.getKey().equals(current)
                    && isSame(sealing.fingerprint(), key.getFingerprint()))
            ? Optional.empty()
            : Optional.of(new Encryption.Master());
      }
      case KEY_PROTECTION_KMS -> {
        String version = versions.of(key.getKey());
        byte[] present = kms.fingerprint(key.getKey());
        yield key.getSealed().startsWith(ByteString.copyFromUtf8(version))
                && (present.length == 0 || isSame(present, key.getFingerprint()))
            ? Optional.empty()
            : Optional.of(new Encryption.Kms(key.getKey(), key.getContext(), key.getBucketKey()));
      }
      case KEY_PROTECTION_CUSTOMER -> Optional.empty();
      case KEY_PROTECTION_NONE, UNRECOGNIZED ->
          throw KeyFailures.unreadable("this build does not know what it is sealed with");
    };
  }

  private static boolean isSame(byte[] present, ByteString stored) {
    return stored.equals(ByteString.copyFrom(present));
  }

  private WrappedKey parsed(ByteString wrapped) throws S3Exception {
    try {
      return WrappedKey.parseFrom(wrapped);
    } catch (InvalidProtocolBufferException e) {
      throw meters.unopened(
          KeyProtection.UNRECOGNIZED, KeyFailures.unreadable("it is no document of keys"));
    }
  }

  private ByteString wrap(DataKey key, Encryption how) throws S3Exception, InterruptedException {
    return switch (how) {
      case Encryption.Master master -> withMaster(key);
      case Encryption.Kms with -> {
        try {
          yield withKms(key, with);
        } catch (S3Exception e) {
          throw meters.unsealed(KeyProtection.KEY_PROTECTION_KMS, e);
        }
      }
      case Encryption.Customer customer -> withCustomer(key, customer.key());
    };
  }

  private ByteString withMaster(DataKey key) throws S3Exception {
    String name = masters.current();
    SealingKey sealing = name == null ? null : masters.named(name);
    if (name == null || sealing == null) {
      throw withoutMaster();
    }
    WrappedKey.Builder wrapped =
        WrappedKey.newBuilder()
            .setProtection(KeyProtection.KEY_PROTECTION_MASTER)
            .setKey(name)
            .setFingerprint(ByteString.copyFrom(sealing.fingerprint()));
    return stored(wrapped, sealing.seal(key, bound(wrapped.build()), random));
  }

  /** SSE-S3 is asked for, and cannot be had. */
  public static S3Exception withoutMaster() {
    return new S3Exception(
        S3Error.NOT_IMPLEMENTED,
        "Server side encryption is specified, but the server has no master key.");
  }

  /** 503 where the bucket or the server encrypts by default, and there is no master key. */
  public S3Exception withoutStandardMaster() {
    return meters.unsealed(
        KeyProtection.KEY_PROTECTION_MASTER,
        KeyFailures.unsealed(
            "the default of its bucket or of the server is AES256, and there is no master key"));
  }

  private ByteString withKms(DataKey key, Encryption.Kms with)
      throws S3Exception, InterruptedException {
    WrappedKey.Builder wrapped =
        WrappedKey.newBuilder()
            .setProtection(KeyProtection.KEY_PROTECTION_KMS)
            .setKey(with.keyId())
            .setContext(with.context())
            .setBucketKey(with.bucketKey());
    byte[] sealed = kms.seal(with.keyId(), key, bound(wrapped.build()));
    return stored(
        wrapped.setFingerprint(ByteString.copyFrom(kms.fingerprint(with.keyId()))), sealed);
  }

  private ByteString withCustomer(DataKey key, CustomerKey customer) {
    WrappedKey.Builder wrapped =
        WrappedKey.newBuilder().setProtection(KeyProtection.KEY_PROTECTION_CUSTOMER);
    return stored(wrapped, customer.key().seal(key, bound(wrapped.build()), random));
  }

  private static byte[] bound(WrappedKey wrapped) {
    return KeyDescription.of(wrapped).bound();
  }

  private static ByteString stored(WrappedKey.Builder wrapped, byte[] sealed) {
    return wrapped.setSealed(ByteString.copyFrom(sealed)).build().toByteString();
  }

  /**
   * Opens what was stored.
   *
   * @param customer that came with the request; null: none did
   * @throws S3Exception InvalidRequest if a customer key is missing or has no use, InvalidArgument
   *     if it is another one; ServiceUnavailable if a key of the server is missing, another one, or
   *     the stored key is damaged
   */
  public DataKey open(ByteString wrapped, @Nullable CustomerKey customer)
      throws S3Exception, InterruptedException {
    WrappedKey key = parsed(wrapped);
    try {
      return opened(key, customer);
    } catch (S3Exception e) {
      throw meters.unopened(key.getProtection(), e);
    }
  }

  private DataKey opened(WrappedKey key, @Nullable CustomerKey customer)
      throws S3Exception, InterruptedException {
    boolean isOfCustomer = key.getProtection() == KeyProtection.KEY_PROTECTION_CUSTOMER;
    if (isOfCustomer && customer == null) {
      throw CustomerKeyErrors.missing();
    }
    if (!isOfCustomer && customer != null) {
      throw CustomerKeyErrors.notApplicable();
    }
    byte[] sealed = key.getSealed().toByteArray();
    return switch (key.getProtection()) {
      case KEY_PROTECTION_MASTER -> ofMaster(key, sealed, bound(key));
      case KEY_PROTECTION_KMS ->
          kms.open(key.getKey(), key.getFingerprint().toByteArray(), sealed, bound(key));
      case KEY_PROTECTION_CUSTOMER ->
          ofCustomer(Objects.requireNonNull(customer), sealed, bound(key));
      case KEY_PROTECTION_NONE, UNRECOGNIZED ->
          throw KeyFailures.unreadable("this build does not know what it is sealed with");
    };
  }

  private DataKey ofMaster(WrappedKey key, byte[] sealed, byte[] bound) throws S3Exception {
    SealingKey master = masters.of(key.getFingerprint());
    if (master == null) {
      throw KeyFailures.unreadable(
          wanted(key) + KeyFailures.instead("name", masters.named(key.getKey())));
    }
    try {
      return master.open(sealed, bound);
    } catch (DamagedKeyException e) {
      throw KeyFailures.unreadable(wanted(key) + ": " + e.getMessage());
    }
  }

  private static String wanted(WrappedKey key) {
    return "sealed with master key %s (%s)"
        .formatted(key.getKey(), SealingKey.text(key.getFingerprint().toByteArray()));
  }

  private static DataKey ofCustomer(CustomerKey customer, byte[] sealed, byte[] bound)
      throws S3Exception {
    if (!customer.key().sealed(sealed)) {
      throw CustomerKeyErrors.another();
    }
    try {
      return customer.key().open(sealed, bound);
    } catch (DamagedKeyException e) {
      throw KeyFailures.unreadable("sealed with a key of the client: " + e.getMessage());
    }
  }
}
