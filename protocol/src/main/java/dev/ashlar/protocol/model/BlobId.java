package dev.ashlar.protocol.model;

import dev.ashlar.protocol.message.BlobIdValue;

/**
 * The permanent id of a blob. Each attempt to write a blob takes a new one, so that nothing is
 * written twice under one id.
 *
 * @param session the gateway session that chose the id; a session registers in Raft before it
 *     writes
 * @param sequence counts up within the session, from 0
 */
public record BlobId(long session, long sequence) implements Comparable<BlobId> {
  /** Order of ids: by session, then by sequence, both unsigned. */
  @Override
  public int compareTo(BlobId other) {
    int bySession = Long.compareUnsigned(session, other.session);
    return bySession != 0 ? bySession : Long.compareUnsigned(sequence, other.sequence);
  }

  /** The placement group of this blob, from 0 to {@code pgCount - 1}. */
  public int placementGroup(int pgCount) {
    if (pgCount < 1) {
      throw new IllegalArgumentException("pgCount " + pgCount);
    }
    // The finaliser of SplitMix64 (Steele, Lea, Flood 2014): consecutive sequences spread evenly.
    long hash = sequence + session * 0x9E3779B97F4A7C15L;
    hash = (hash ^ (hash >>> 30)) * 0xBF58476D1CE4E5B9L;
    hash = (hash ^ (hash >>> 27)) * 0x94D049BB133111EBL;
    hash ^= hash >>> 31;
    return (int) Long.remainderUnsigned(hash, pgCount);
  }

  public BlobIdValue toMessage() {
    return BlobIdValue.newBuilder().setSession(session).setSequence(sequence).build();
  }

  public static BlobId of(BlobIdValue key) {
    return new BlobId(key.getSession(), key.getSequence());
  }

  @Override
  public String toString() {
    return Long.toHexString(session) + "-" + Long.toHexString(sequence);
  }
}
