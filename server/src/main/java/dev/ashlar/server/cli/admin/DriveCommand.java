package dev.ashlar.server.cli.admin;

import java.io.IOException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code ashlar admin drive}. */
@Command(
    name = "drive",
    aliases = "drives",
    description = "Lists drives, moves their data, replaces and recalls them.")
final class DriveCommand extends TargetCommand {
  @Command(name = "list", description = "Lists the drives, with their use and state.")
  int list(@Option(names = "--watch", description = AdminCommand.WATCH) boolean isWatching)
      throws IOException, InterruptedException {
    return admin().show("drives", isWatching);
  }

  @Command(
      name = "replace",
      description =
          "Gives the placement group slots of a drive to a new drive, and drains the old.")
  int replace(
      @Parameters(paramLabel = "OLD", description = "Drive id, or node with one drive.") String old,
      @Parameters(paramLabel = "NEW", description = "Drive id, or node with one drive.") String by,
      @Option(names = "--watch", description = AdminCommand.WATCH_UNTIL_DONE) boolean isWatching)
      throws IOException, InterruptedException {
    int code = admin().change("replace", old, by);
    return isWatching ? admin().watchProgress("rebalance", true) : code;
  }

  @Command(
      name = "recall",
      description =
          "Takes replaced drives back that are mounted in their places again. Refused if data that"
              + " only the replacements hold would be lost.")
  int recall(
      @Parameters(
              paramLabel = "IDS",
              description =
                  "Drive ids, separated by commas; in a store in one process also folders.")
          String ids)
      throws IOException, InterruptedException {
    return admin().change("drive-recall", ids, null);
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    return list(false);
  }
}
