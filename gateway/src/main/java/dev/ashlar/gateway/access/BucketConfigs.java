package dev.ashlar.gateway.access;

import dev.ashlar.gateway.cache.BoundedCache;
import dev.ashlar.gateway.lifecycle.LifecycleDocuments;
import dev.ashlar.protocol.message.BucketConfigAnswer;
import dev.ashlar.protocol.message.BucketConfigQuery;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The configurations of buckets as they were last read, compiled. Each decision asks metadata
 * whether the bucket has changed since, in the read that it needs anyway, so a change counts at
 * every gateway from its answer on.
 */
final class BucketConfigs {
  private static final int ENTRIES_MAX = 10_000;

  /** Compiled, a policy takes some ten times the memory of its text. */
  private static final long DOCUMENT_BYTES_MAX = 8 << 20;

  private final BoundedCache<String, BucketConfig> known =
      new BoundedCache<>(ENTRIES_MAX, DOCUMENT_BYTES_MAX);

  /** The last known configuration; null if none is known. */
  @Nullable BucketConfig known(String bucket) {
    return known.get(bucket);
  }

  /**
   * @param before as {@link #known} returned it
   */
  static BucketConfigQuery query(String bucket, @Nullable BucketConfig before) {
    BucketConfigQuery.Builder query =
        BucketConfigQuery.newBuilder()
            .setBucket(bucket)
            .addAllKinds(AccessDocument.NUMBERS)
            .addKinds(LifecycleDocuments.RULES);
    if (before != null) {
      query.setKnownId(before.row().getId()).setKnownRevision(before.row().getConfigRevision());
    }
    return query.build();
  }

  /**
   * The present configuration; empty if there is no such bucket.
   *
   * @param before with which the query was made
   */
  Optional<BucketConfig> present(
      String bucket, @Nullable BucketConfig before, BucketConfigAnswer answer) {
    if (!answer.hasBucket()) {
      known.remove(bucket);
      return Optional.empty();
    }
    if (answer.getUnchanged() && before != null) {
      return Optional.of(before);
    }
    BucketConfig now = BucketConfig.of(answer);
    known.put(bucket, now, now.documentBytes());
    return Optional.of(now);
  }
}
