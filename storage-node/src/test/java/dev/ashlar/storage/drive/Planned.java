package dev.ashlar.storage.drive;

import dev.ashlar.storage.drive.log.LogRequest;

/** Something that a simulation asks of the log, and what its model makes of the answer. */
interface Planned {
  LogRequest request();

  /** From now on it may have happened. */
  void announce();

  /** It is known to have happened, or not to have. */
  void ended(boolean isAcknowledged);

  /** Nobody will hear of it any more. */
  default void forgotten() {}
}
