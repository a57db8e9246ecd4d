package dev.ashlar.gateway.operation.shared;

import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.blob.DataUnavailableException.Reason;
import dev.ashlar.blob.ObjectStore;
import dev.ashlar.gateway.encryption.CustomerFields;
import dev.ashlar.gateway.encryption.EncryptionHeaders;
import dev.ashlar.gateway.encryption.frame.FrameOpener;
import dev.ashlar.gateway.encryption.key.DataKey;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.s3.S3Request;
import dev.ashlar.gateway.uri.Percent;
import dev.ashlar.gateway.version.VersionId;
import dev.ashlar.protocol.client.ObjectRead;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.layout.EncryptedRuns;
import dev.ashlar.protocol.message.ObjectFacts;
import dev.ashlar.protocol.message.ObjectRecord;
import dev.ashlar.protocol.process.RateLimitedLog;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/** The bytes of an object as clients see them, however they are stored. */
public final class ObjectContent {
  private static final Logger LOG = LoggerFactory.getLogger(ObjectContent.class);
  private static final RateLimitedLog DAMAGED = new RateLimitedLog(LOG, Level.ERROR);

  private final ObjectStore store;
  private final Place place;
  private final ObjectRead object;
  private final @Nullable DataKey key;

  /** Where an operator finds an object. */
  public record Place(String bucket, String key) {}

  /**
   * @param key null if it is not encrypted
   */
  private ObjectContent(ObjectStore store, Place place, ObjectRead object, @Nullable DataKey key) {
    if ((key != null) != EncryptedRuns.isEncrypted(object.object())) {
      throw new IllegalArgumentException("encrypted bytes need a key, and others have none");
    }
    this.store = store;
    this.place = place;
    this.object = object;
    this.key = key;
  }

  /**
   * Opens the key of the object, if it has one.
   *
   * @param given for SSE-C
   * @throws S3Exception if the key cannot be opened, or not with what is given
   */
  public static ObjectContent open(
      Backend backend, Place place, ObjectRead object, CustomerFields given)
      throws S3Exception, InterruptedException {
    DataKey key = backend.encryptions().open(object.object().getFacts(), given);
    return new ObjectContent(backend.store(), place, object, key);
  }

  /** The same for the source of a copy. */
  public static ObjectContent ofSource(
      Backend backend, S3Request.CopySource source, ObjectRead object)
      throws S3Exception, InterruptedException {
    return open(backend, new Place(source.bucket(), source.key()), object, source.customer());
  }

  /**
   * Refuses a request for what is known of an object without its bytes, if it brings no key or
   * another one than they would need, or a key that has no use.
   */
  public static void requireCustomerKey(Backend backend, ObjectFacts facts, CustomerFields given)
      throws S3Exception, InterruptedException {
    if (given.isGiven() || EncryptionHeaders.isOfCustomer(facts)) {
      backend.encryptions().open(facts, given);
    }
  }

  public ObjectRead object() {
    return object;
  }

  /** The key of its bytes; null: they are not encrypted. */
  public @Nullable DataKey key() {
    return key;
  }

  public long size() {
    return object.object().getSummary().getSize();
  }

  /** Reads as {@link ObjectStore#read} does. */
  public void read(ByteRange range, ObjectStore.DataSink sink)
      throws DataUnavailableException, InterruptedException {
    if (key == null) {
      store.read(object, range, sink);
    } else {
      try {
        FrameOpener.read(store, object, key, range, sink);
      } catch (DataUnavailableException e) {
        throw e.reason() == Reason.DAMAGED ? damaged(e) : e;
      }
    }
  }

  private DataUnavailableException damaged(DataUnavailableException frame) {
    ObjectRecord version = object.object();
    String message =
        "Object "
            + Percent.encode(place.bucket + "/" + place.key) // may have line ends
            + ", version "
            + VersionId.of(version.getVersion(), version.getVersioned())
            + ": "
            + frame.getMessage();
    DAMAGED.log(message);
    return new DataUnavailableException(Reason.DAMAGED, message);
  }
}
