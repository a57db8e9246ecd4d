package dev.ashlar.protocol.model;

import dev.ashlar.protocol.message.BlobIdValue;

/**
 * The permanent id of a blob. Each attempt to write a blob takes a new one, so that nothing is
 * written twice under one id.
 *
 * <p>The id names the profile of the blob, so that whoever has an id knows its placement group.
 *
 * @param session the gateway session that chose the id; a session registers in Raft before it
 *     writes
 * @param sequence the number of the profile in the highest 16 bits; the lower 48 bits count up
 *     within the session, from 0
 */
public record BlobId(long session, long sequence) implements Comparable<BlobId> {
  /** The highest number that a profile can have. */
  public static final int PROFILE_MAX = 0xFFFF;

  /** The highest count within a session. */
  public static final long COUNT_MAX = (1L << 48) - 1;

  private static final int PROFILE_SHIFT = 48;

  /**
   * A new id.
   *
   * @param profile the number of the blob's profile, at most {@link #PROFILE_MAX}
   * @param count of ids of the session so far, at most {@link #COUNT_MAX}
   */
  public static BlobId of(long session, int profile, long count) {
    if (profile < 0 || profile > PROFILE_MAX || count < 0 || count > COUNT_MAX) {
      throw new IllegalArgumentException("blob " + count + " of profile " + profile);
    }
    return new BlobId(session, (long) profile << PROFILE_SHIFT | count);
  }

  /** The number of the blob's profile; 0 is the profile that the store was made with. */
  public int profile() {
    return (int) (sequence >>> PROFILE_SHIFT);
  }

  /** Order of ids: by session, then by sequence, both unsigned. */
  @Override
  public int compareTo(BlobId other) {
    int bySession = Long.compareUnsigned(session, other.session);
    return bySession != 0 ? bySession : Long.compareUnsigned(sequence, other.sequence);
  }

  /** Which of the placement groups of its profile the blob has, from 0 to {@code count - 1}. */
  int groupOf(int count) {
    if (count < 1) {
      throw new IllegalArgumentException(count + " placement groups");
    }
    // The finaliser of SplitMix64 (Steele, Lea, Flood 2014): consecutive sequences spread evenly.
    long hash = sequence + session * 0x9E3779B97F4A7C15L;
    hash = (hash ^ (hash >>> 30)) * 0xBF58476D1CE4E5B9L;
    hash = (hash ^ (hash >>> 27)) * 0x94D049BB133111EBL;
    hash ^= hash >>> 31;
    return (int) Long.remainderUnsigned(hash, count);
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
