package dev.ashlar.protocol.client;

import dev.ashlar.protocol.model.AttemptId;

/**
 * An attempt that metadata has committed.
 *
 * @param revision of the blob that it made, at least 1
 */
public record CommittedAttempt(AttemptId attempt, long revision) {
  public CommittedAttempt {
    if (revision < 1) {
      throw new IllegalArgumentException("revision " + revision);
    }
  }
}
