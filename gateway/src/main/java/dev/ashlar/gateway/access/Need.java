package dev.ashlar.gateway.access;

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

  /** What an action is about. Its kind tells which metadata row a decision is based on. */
  public sealed interface Resource {
    String BUCKETS = "arn:aws:s3:::";

    /** The service as a whole; no row. */
    record Service() implements Resource {}

    /** A bucket that the request creates; no row. */
    record NewBucket(String bucket) implements Resource {}

    /** An existing bucket; its row. */
    record Bucket(String bucket) implements Resource {}

    /** A key, whether or not an object is stored there; the row of its bucket. */
    record Key(String bucket, String key) implements Resource {}

    /**
     * Keys about which the operation asks when it has read the body: the body names them, or
     * conditions of policies ask what it contains.
     */
    record KeysOf(String bucket) implements Resource {}

    /** A stored object; its row, which the operation needs anyway. */
    record StoredObject(String bucket, String key) implements Resource {}

    /** As policies name it. */
    default String arn() {
      return switch (this) {
        case Service service -> "*";
        case NewBucket created -> BUCKETS + created.bucket();
        case Bucket bucket -> BUCKETS + bucket.bucket();
        case Key key -> BUCKETS + key.bucket() + "/" + key.key();
        case KeysOf keys -> BUCKETS + keys.bucket() + "/*";
        case StoredObject object -> BUCKETS + object.bucket() + "/" + object.key();
      };
    }

    /**
     * @param key null for the bucket itself
     */
    static Resource existing(String bucket, @Nullable String key) {
      return key == null ? new Bucket(bucket) : new StoredObject(bucket, key);
    }
  }
}
