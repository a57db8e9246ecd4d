package dev.ashlar.protocol.client;

import dev.ashlar.protocol.model.AttemptId;
import dev.ashlar.protocol.model.BlobId;
import java.util.Comparator;

/** Forgets what an attempt that will never be committed wrote for any shard of the blob. */
public record Drop(BlobId blob, AttemptId attempt) implements Comparable<Drop> {
  private static final Comparator<Drop> ORDER =
      Comparator.comparing(Drop::blob).thenComparing(Drop::attempt);

  /** By blob, then by attempt. */
  @Override
  public int compareTo(Drop other) {
    return ORDER.compare(this, other);
  }
}
