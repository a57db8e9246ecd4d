package dev.ashlar.gateway.operation.shared;

import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.blob.ObjectStore;
import dev.ashlar.gateway.encryption.CustomerFields;
import dev.ashlar.gateway.encryption.EncryptionHeaders;
import dev.ashlar.gateway.encryption.frame.FrameOpener;
import dev.ashlar.gateway.encryption.key.DataKey;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.protocol.client.ObjectRead;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.layout.EncryptedRuns;
import dev.ashlar.protocol.message.ObjectFacts;
import org.jspecify.annotations.Nullable;

/** The bytes of an object as clients see them, however they are stored. */
public final class ObjectContent {
  private final ObjectStore store;
  private final ObjectRead object;
  private final @Nullable DataKey key;

  /**
   * @param key null if it is not encrypted
   */
  private ObjectContent(ObjectStore store, ObjectRead object, @Nullable DataKey key) {
    if ((key != null) != EncryptedRuns.isEncrypted(object.object())) {
      throw new IllegalArgumentException("encrypted bytes need a key, and others have none");
    }
    this.store = store;
    this.object = object;
    this.key = key;
  }

  /**
   * Opens the key of the object, if it has one.
   *
   * @param given for SSE-C
   * @throws S3Exception if the key cannot be opened, or not with what is given
   */
  public static ObjectContent open(Backend backend, ObjectRead object, CustomerFields given)
      throws S3Exception, InterruptedException {
    DataKey key = backend.encryptions().open(object.object().getFacts(), given);
    return new ObjectContent(backend.store(), object, key);
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
      FrameOpener.read(store, object, key, range, sink);
    }
  }
}
