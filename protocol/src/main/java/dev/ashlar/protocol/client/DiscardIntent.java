package dev.ashlar.protocol.client;

import dev.ashlar.protocol.model.AttemptId;
import dev.ashlar.protocol.model.BlobId;
import java.util.Comparator;

/** Forgets what an attempt that will never be committed wrote for any shard of the blob. */
public record DiscardIntent(BlobId blob, AttemptId attempt) implements Comparable<DiscardIntent> {
  private static final Comparator<DiscardIntent> ORDER =
      Comparator.comparing(DiscardIntent::blob).thenComparing(DiscardIntent::attempt);

  /** By blob, then by attempt. */
  @Override
  public int compareTo(DiscardIntent other) {
    return ORDER.compare(this, other);
  }
}
