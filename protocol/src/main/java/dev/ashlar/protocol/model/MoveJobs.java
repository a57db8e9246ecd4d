package dev.ashlar.protocol.model;

import dev.ashlar.protocol.message.MoveJobRow;

/** What the rows of jobs that move versions to other storage classes mean. */
public final class MoveJobs {
  private MoveJobs() {}

  /** Whether the job is over. */
  public static boolean isEnded(MoveJobRow job) {
    return switch (job.getState()) {
      case WAITING, COUNTING, RUNNING, FULL -> false;
      case DONE, STOPPED, UNRECOGNIZED -> true;
    };
  }
}
