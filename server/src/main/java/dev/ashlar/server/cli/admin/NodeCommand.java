package dev.ashlar.server.cli.admin;

import java.io.IOException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code ashlar admin node}. */
@Command(name = "node", aliases = "nodes", description = "Lists nodes, and moves their data.")
final class NodeCommand extends TargetCommand {
  @Command(name = "list", description = "Lists the nodes of the cluster.")
  int list(@Option(names = "--watch", description = AdminCommand.WATCH) boolean isWatching)
      throws IOException, InterruptedException {
    return admin().show("nodes", isWatching);
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    return list(false);
  }
}
