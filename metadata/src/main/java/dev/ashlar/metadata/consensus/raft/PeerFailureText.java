package dev.ashlar.metadata.consensus.raft;

import dev.ashlar.metadata.consensus.checkpoint.LiveTables;
import dev.ashlar.metadata.table.TableFailureException;

/** Why a peer stopped, or cannot read its tables, and what its operator can do. */
public final class PeerFailureText {
  private PeerFailureText() {}

  /**
   * @param isOnly whether there are no other peers that have what this one has
   */
  static String account(long index, String folder, boolean isOnly, Throwable failure) {
    return String.format(
        "log entry %d cannot be applied in %s: %s. %s",
        index, folder, failure, remedy(isOnly, failure));
  }

  /** Of tables that cannot be rebuilt from what is in their folder. */
  public static String accountOf(LiveTables.FailedRebuild failed, String folder, boolean isOnly) {
    return String.format(
        "the metadata tables in %s are damaged and cannot be rebuilt %s: %s. %s",
        folder,
        failed.isLost() ? "from there" : "now",
        failed.why(),
        !failed.isLost() ? LATER : isOnly ? LOST_ONLY : LOST);
  }

  private static final String LATER =
      "It is tried again. Look at the drive, at the room on it and at the limit of open files, and"
          + " keep the folder";

  private static final String LOST_ONLY =
      "Check the drive, keep the folder and restore a copy of it. Do not empty it: there is no other"
          + " peer from which it could be rebuilt. What needs the damaged part is refused until"
          + " then";

  private static final String LOST =
      "The peer votes and stores the log, and does not lead while a whole one can. Check the drive."
          + " If most of the other peers are whole, stop this process and empty the folder: it is"
          + " rebuilt from them";

  private static String remedy(boolean isOnly, Throwable failure) {
    return switch (failure) {
      case TableFailureException e ->
          "Its tables are damaged or its drive fails. Check the drive and start it again: the tables"
              + " are made anew from the checkpoint and the log. If it stops again, "
              + (isOnly
                  ? "keep the folder and restore a copy of it. Do not empty it: there is no other"
                      + " peer from which it could be rebuilt"
                  : "look whether the other peers are whole, which go on without it. Only if most of"
                      + " them are, empty the folder, and it is rebuilt from them");
      case Error e ->
          "Nothing is lost. Start it again, with more memory if it ran out of that: the log is"
              + " applied from the checkpoint on";
      default ->
          "Nothing is lost, but each start comes to the same: this is a bug. Keep the folder, report"
              + " this log, and start it with a build in which it is mended";
    };
  }
}
