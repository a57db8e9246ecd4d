package dev.ashlar.gateway.access;

import dev.ashlar.protocol.client.ObjectRead;
import dev.ashlar.protocol.message.BucketRow;
import org.jspecify.annotations.Nullable;

/** The outcome of a decision in favour of a caller, with the row that it was based on. */
public final class Permit {
  private final Caller caller;
  private final @Nullable BucketRow bucket;
  private final @Nullable ObjectRead object;

  Permit(Caller caller, @Nullable BucketRow bucket, @Nullable ObjectRead object) {
    this.caller = caller;
    this.bucket = bucket;
    this.object = object;
  }

  public Caller caller() {
    return caller;
  }

  /** The bucket of a need that is about a bucket or a key. */
  public BucketRow bucket() {
    return present(bucket);
  }

  /** The object of a need that is about a stored object. */
  public ObjectRead object() {
    return present(object);
  }

  private static <T> T present(@Nullable T row) {
    if (row == null) {
      throw new IllegalStateException("the decision was not based on this kind of row");
    }
    return row;
  }
}
