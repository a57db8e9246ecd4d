package dev.ashlar.metadata.consensus.raft;

import dev.ashlar.metadata.consensus.checkpoint.LiveTables;
import dev.ashlar.metadata.table.TableFailureException;

/** Texts on why a peer stopped or cannot read its tables, and what the operator can do. */
public final class PeerFailureText {
  private PeerFailureText() {}

  /**
   * @param isOnly whether there are no other peers with the same content
   */
  static String account(long index, String folder, boolean isOnly, Throwable failure) {
    return String.format(
        "log entry %d cannot be applied in %s: %s. %s",
        index, folder, failure, remedy(isOnly, failure));
  }

  /** The text for tables that cannot be rebuilt from their folder. */
  public static String accountOf(LiveTables.FailedRebuild failed, String folder, boolean isOnly) {
    return String.format(
        "the metadata tables in %s are damaged and cannot be rebuilt %s: %s. %s",
        folder,
        failed.isLost() ? "from there" : "now",
        failed.why(),
        !failed.isLost() ? LATER : isOnly ? LOST_ONLY : LOST);
  }

  private static final String LATER =
      "The rebuild is retried. Check the drive, its free space and the limit of open "
          + "files, and keep the folder";

  private static final String LOST_ONLY =
      "Check the drive, keep the folder and restore a copy of it. Do not empty it: "
          + "there is no other peer to rebuild it from. Requests that need the damaged "
          + "part are refused until then";

  private static final String LOST =
      "The peer still votes and stores the log, but does not lead while an intact "
          + "peer can. Check the drive. If a majority of the other peers is intact, stop "
          + "this process and empty the folder to rebuild it from them";

  private static String remedy(boolean isOnly, Throwable failure) {
    return switch (failure) {
      case TableFailureException e ->
          "Its tables are damaged or its drive fails. Check the drive and restart: the "
              + "tables are rebuilt from the checkpoint and the log. If it stops again, "
              + (isOnly
                  ? "keep the folder and restore a copy of it. Do not empty it: there is no other "
                      + "peer to rebuild it from"
                  : "check whether the other peers, which continue without it, are intact. Only if "
                      + "a majority of them is, empty the folder to rebuild it from them");
      case Error e ->
          "Nothing is lost. Restart it, with more memory if it ran out of memory: the "
              + "log is applied again from the checkpoint";
      default ->
          "Nothing is lost, but every start fails in the same way: this is a bug. Keep "
              + "the folder, report this log, and restart with a build that fixes it";
    };
  }
}
