package dev.ashlar.gateway.operation.shared;

import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.ObjectRead;
import dev.ashlar.protocol.message.BucketRow;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Finds what a caller names, where it is the caller's: buckets are private to their owner. */
public final class Buckets {
  private final MetadataClient metadata;

  public Buckets(MetadataClient metadata) {
    this.metadata = metadata;
  }

  /** The bucket, or NoSuchBucket, or AccessDenied. */
  public BucketRow owned(String name, String caller)
      throws S3Exception, MetadataUnavailableException {
    BucketRow bucket = metadata.bucket(name).orElseThrow(() -> noSuchBucket(name));
    if (!bucket.getOwner().equals(caller)) {
      throw new S3Exception(S3Error.ACCESS_DENIED);
    }
    return bucket;
  }

  /** AccessDenied when the bucket is there and somebody else's than the sender thinks. */
  public void requireOwner(@Nullable String bucket, String expectedOwner)
      throws S3Exception, MetadataUnavailableException {
    Optional<BucketRow> row = bucket == null ? Optional.empty() : metadata.bucket(bucket);
    if (row.isPresent() && !row.get().getOwner().equals(expectedOwner)) {
      throw new S3Exception(S3Error.ACCESS_DENIED);
    }
  }

  /** The object, or the error that tells why there is none for this caller. */
  public ObjectRead ownedObject(String bucket, String key, String caller)
      throws S3Exception, MetadataUnavailableException {
    Optional<ObjectRead> found = metadata.object(bucket, key);
    // Only a bucket's owner writes into it: the object's owner spares the look-up of the bucket.
    if (found.isPresent() && found.get().object().getSummary().getOwner().equals(caller)) {
      return found.get();
    }
    owned(bucket, caller);
    return found.orElseThrow(() -> noSuchKey(key));
  }

  static S3Exception noSuchBucket(String name) {
    return new S3Exception(
        S3Error.NO_SUCH_BUCKET, S3Error.NO_SUCH_BUCKET.message(), Map.of("BucketName", name), null);
  }

  static S3Exception noSuchKey(String key) {
    return new S3Exception(
        S3Error.NO_SUCH_KEY, S3Error.NO_SUCH_KEY.message(), Map.of("Key", key), null);
  }

  public static S3Exception noSuchUpload(String uploadId) {
    return new S3Exception(
        S3Error.NO_SUCH_UPLOAD,
        S3Error.NO_SUCH_UPLOAD.message(),
        Map.of("UploadId", uploadId),
        null);
  }
}
