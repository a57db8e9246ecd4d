package dev.ashlar.protocol.model;

import dev.ashlar.protocol.message.AttemptIdValue;

/**
 * The id of one attempt to change blobs. Never used again, so that intents of a lost attempt are
 * never taken for those of another one.
 *
 * @param session the gateway session that chose the id; a session registers in Raft before it
 *     writes
 * @param sequence counts up within the session, from 0
 */
public record AttemptId(long session, long sequence) implements Comparable<AttemptId> {
  /** Order of ids: by session, then by sequence, both unsigned. */
  @Override
  public int compareTo(AttemptId other) {
    int bySession = Long.compareUnsigned(session, other.session);
    return bySession != 0 ? bySession : Long.compareUnsigned(sequence, other.sequence);
  }

  public AttemptIdValue toMessage() {
    return AttemptIdValue.newBuilder().setSession(session).setSequence(sequence).build();
  }

  public static AttemptId of(AttemptIdValue key) {
    return new AttemptId(key.getSession(), key.getSequence());
  }

  @Override
  public String toString() {
    return Long.toHexString(session) + "+" + Long.toHexString(sequence);
  }
}
