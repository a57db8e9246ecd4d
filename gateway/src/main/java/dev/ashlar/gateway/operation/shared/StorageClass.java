package dev.ashlar.gateway.operation.shared;

import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.protocol.message.BucketRow;
import dev.ashlar.protocol.message.SliceValue;
import dev.ashlar.protocol.message.UploadRow;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.PlacedProfile;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The storage class of a new object: the name of a profile of the store, or STANDARD, which means
 * the default profile.
 *
 * @param stored as metadata has it; empty: STANDARD
 * @param profile of the object's new blobs
 */
public record StorageClass(String stored, PlacedProfile profile) {
  /**
   * The class that a request asks for, otherwise that of the bucket.
   *
   * @param name null: none is asked for
   * @throws S3Exception InvalidStorageClass
   */
  public static StorageClass asked(Backend backend, BucketRow bucket, @Nullable String name)
      throws S3Exception {
    if (name == null) {
      return kept(backend, bucket.getStorageClass());
    }
    Optional<PlacedProfile> profile = backend.metadata().placement().ofClass(name);
    if (profile.isEmpty()) {
      throw invalid(name);
    }
    return new StorageClass(PlacedProfile.storedClass(name), profile.get());
  }

  /** The class of the object that an upload will make. */
  public static StorageClass of(Backend backend, UploadRow upload) throws S3Exception {
    return kept(backend, upload.getStorageClass());
  }

  /**
   * The class that a bucket or an upload has, and that is not removed while they have it.
   *
   * @throws S3Exception ServiceUnavailable if this gateway has not learned of it yet
   */
  private static StorageClass kept(Backend backend, String stored) throws S3Exception {
    Optional<PlacedProfile> profile =
        backend.metadata().placement().ofClass(PlacedProfile.className(stored));
    if (profile.isEmpty()) {
      throw new S3Exception(S3Error.SERVICE_UNAVAILABLE);
    }
    return new StorageClass(stored, profile.get());
  }

  /**
   * Requires that the class a change asks for is that of its object, which it keeps.
   *
   * @param name null: none is asked for
   * @param stored that of the object
   */
  public static void requireSame(@Nullable String name, String stored) throws S3Exception {
    if (name != null && !PlacedProfile.storedClass(name).equals(stored)) {
      throw invalid(name);
    }
  }

  private static S3Exception invalid(String name) {
    return new S3Exception(S3Error.INVALID_STORAGE_CLASS).with("StorageClassRequested", name);
  }

  /** Whether data of these slices has the profile of this class already. */
  public boolean hasProfileOf(List<SliceValue> slices) {
    return slices.stream()
        .allMatch(slice -> BlobId.of(slice.getBlob()).profile() == profile.number());
  }
}
