package dev.ashlar.metadata.consensus;

import dev.ashlar.metadata.table.TableFailureException;

/** Why a peer stopped while it applied a log entry, and what its operator can do. */
final class ApplyFailure {
  private ApplyFailure() {}

  static String account(long index, String folder, Throwable failure) {
    return String.format(
        "log entry %d cannot be applied in %s: %s. %s", index, folder, failure, remedy(failure));
  }

  private static String remedy(Throwable failure) {
    return switch (failure) {
      case TableFailureException e ->
          "Its tables are damaged or its drive fails; other peers go on without it. Check the drive"
              + " and start it again: the tables are made anew from the checkpoint and the log. If"
              + " it stops again, empty the folder, and it is rebuilt from the other peers";
      case Error e ->
          "Nothing is lost. Start it again, with more memory if it ran out of that: the log is"
              + " applied from the checkpoint on";
      default ->
          "Nothing is lost, but each start comes to the same: this is a bug. Keep the folder, report"
              + " this log, and start it with a build in which it is mended";
    };
  }
}
