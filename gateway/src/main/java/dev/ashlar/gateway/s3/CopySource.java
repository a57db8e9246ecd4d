package dev.ashlar.gateway.s3;

import dev.ashlar.gateway.access.Need;
import dev.ashlar.gateway.access.Resource;
import org.jspecify.annotations.Nullable;

/**
 * An object to copy from, and the conditions that it must meet.
 *
 * @param expectedOwner of its bucket, null for any
 */
public record CopySource(
    String bucket, String key, Conditions conditions, @Nullable String expectedOwner) {
  /** What the sender must be allowed to do with the source, beside the need of the request. */
  public Need needs() {
    return Need.of("s3:GetObject", new Resource.StoredObject(bucket, key));
  }
}
