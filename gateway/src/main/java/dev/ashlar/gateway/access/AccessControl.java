package dev.ashlar.gateway.access;

import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.ObjectRead;
import dev.ashlar.protocol.message.BucketRow;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The gate in front of the operations: reads the row that a decision is based on, asks the {@link
 * Decider}, and hands the row on, so that the operation does not read it again.
 */
public final class AccessControl {
  private final MetadataClient metadata;
  private final Decider decider = new Decider();

  public AccessControl(MetadataClient metadata) {
    this.metadata = metadata;
  }

  /**
   * Returns only if the caller may do all that is needed.
   *
   * @throws S3Exception NoSuchBucket, AccessDenied, or NoSuchKey for a stored object
   */
  public Permit require(Caller caller, Need need) throws S3Exception, MetadataUnavailableException {
    return switch (need.resource()) {
      case Resource.Bucket bucket -> withBucket(caller, need, bucket.bucket());
      case Resource.Key key -> withBucket(caller, need, key.bucket());
      case Resource.StoredObject object ->
          new Permit(caller, null, object(caller, need, object.bucket(), object.key()));
      case Resource.Service service -> withoutRow(caller, need);
      case Resource.NewBucket created -> withoutRow(caller, need);
    };
  }

  private Permit withBucket(Caller caller, Need need, String bucket)
      throws S3Exception, MetadataUnavailableException {
    return new Permit(caller, bucket(caller, need, bucket), null);
  }

  private Permit withoutRow(Caller caller, Need need) throws S3Exception {
    requireAllowed(decider.allows(caller, need));
    return new Permit(caller, null, null);
  }

  private BucketRow bucket(Caller caller, Need need, String name)
      throws S3Exception, MetadataUnavailableException {
    Optional<BucketRow> bucket = metadata.bucket(name);
    if (bucket.isEmpty()) {
      throw new S3Exception(S3Error.NO_SUCH_BUCKET).with("BucketName", name);
    }
    requireAllowed(decider.allows(caller, need, bucket.get().getOwner()));
    return bucket.get();
  }

  private ObjectRead object(Caller caller, Need need, String bucket, String key)
      throws S3Exception, MetadataUnavailableException {
    Optional<ObjectRead> object = metadata.object(bucket, key);
    // Only the owner of a bucket can write into it, so the object's owner decides, in one read.
    if (object.isPresent()
        && decider.allows(caller, need, object.get().object().getSummary().getOwner())) {
      return object.get();
    }
    bucket(caller, need, bucket);
    return object.orElseThrow(() -> new S3Exception(S3Error.NO_SUCH_KEY).with("Key", key));
  }

  /** Refuses when the bucket exists and belongs to another owner than the sender expects. */
  public void requireExpectedOwner(@Nullable String bucket, String expectedOwner)
      throws S3Exception, MetadataUnavailableException {
    Optional<BucketRow> row = bucket == null ? Optional.empty() : metadata.bucket(bucket);
    requireAllowed(row.isEmpty() || row.get().getOwner().equals(expectedOwner));
  }

  private static void requireAllowed(boolean isAllowed) throws S3Exception {
    if (!isAllowed) {
      throw new S3Exception(S3Error.ACCESS_DENIED);
    }
  }
}
