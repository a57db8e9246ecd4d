package dev.ashlar.server.jobs;

import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.blob.DataUnavailableException.Reason;
import dev.ashlar.blob.move.NotMovedException;
import dev.ashlar.blob.move.VersionMover;
import dev.ashlar.protocol.client.UnavailableException;

/** Moves versions, and lets clients come first while the engine has no room for another request. */
record PatientMover(VersionMover mover) {
  private static final int TRIES = 10;
  private static final int PAUSE_MS = 500;

  /** As {@link VersionMover#move}. */
  VersionMover.Outcome move(VersionMover.Order order, VersionMover.Follower follower)
      throws UnavailableException, NotMovedException, InterruptedException {
    for (int tries = 1; ; tries++) {
      try {
        return mover.move(order, follower);
      } catch (DataUnavailableException e) {
        if (e.reason() != Reason.OVERLOADED || tries == TRIES) {
          throw e;
        }
        Thread.sleep(PAUSE_MS);
      }
    }
  }
}
