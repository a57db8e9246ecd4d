package dev.ashlar.gateway.access;

import dev.ashlar.protocol.message.VersionRef;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What the sender of a request must be allowed to do.
 *
 * @param actions names of S3's permission model, such as s3:GetObject; all of them are needed
 */
public record Need(List<String> actions, Resource resource) {
  public static Need of(String action, Resource resource) {
    return new Need(List.of(action), resource);
  }

  /** What is needed for an action on a resource, or for its twin if a version of it is named. */
  public static Need ofVersion(String action, Resource resource) {
    return of(VersionActions.of(action, resource.version()), resource);
  }

  /** What an action is about. Its kind tells which metadata row a decision is based on. */
  public sealed interface Resource {
    String BUCKETS = "arn:aws:s3:::";

    /** The service as a whole; no row. */
    record Service() implements Resource {}

    /** A bucket that the request creates; no row. */
    record NewBucket(String bucket) implements Resource {}

    /** An existing bucket; its row. */
    record Bucket(String bucket) implements Resource {}

    /**
     * A key, whether or not an object is stored there; the row of its bucket.
     *
     * @param version that the request names; null: none
     */
    record Key(String bucket, String key, @Nullable VersionRef version) implements Resource {
      public Key(String bucket, String key) {
        this(bucket, key, null);
      }
    }

    /**
     * Keys about which the operation asks when it has read the body: the body names them, or
     * conditions of policies ask what it contains.
     */
    record KeysOf(String bucket) implements Resource {}

    /**
     * A stored object; its row, which the operation needs anyway.
     *
     * @param version that the request names; null: the present one
     */
    record StoredObject(String bucket, String key, @Nullable VersionRef version)
        implements Resource {
      public StoredObject(String bucket, String key) {
        this(bucket, key, null);
      }
    }

    /** The version that the request names; null for none. */
    default @Nullable VersionRef version() {
      return null;
    }

    /** As policies name it. */
    default String arn() {
      return switch (this) {
        // Policies name it as all buckets, too, which "*" alone would not match.
        case Service service -> BUCKETS + "*";
        case NewBucket created -> BUCKETS + created.bucket();
        case Bucket bucket -> BUCKETS + bucket.bucket();
        case Key key -> BUCKETS + key.bucket() + "/" + key.key();
        case KeysOf keys -> BUCKETS + keys.bucket() + "/*";
        case StoredObject object -> BUCKETS + object.bucket() + "/" + object.key();
      };
    }

    /**
     * @param key null for the bucket itself
     * @param version of the object; null: the present one
     */
    static Resource existing(String bucket, @Nullable String key, @Nullable VersionRef version) {
      return key == null ? new Bucket(bucket) : new StoredObject(bucket, key, version);
    }
  }
}
