package dev.ashlar.server.cli.admin;

import java.io.IOException;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/** {@code ashlar admin pg}. */
@Command(name = "pg", aliases = "pgs", description = "Lists placement groups.")
final class PlacementGroupCommand implements Callable<Integer> {
  @ParentCommand private @Nullable AdminCommand parent;

  @Command(
      name = "list",
      description = "Lists placement groups, those with the oldest debts first.")
  int list(@Option(names = "--watch", description = AdminCommand.WATCH) boolean isWatching)
      throws IOException, InterruptedException {
    return Objects.requireNonNull(parent).show("pgs", isWatching);
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    return list(false);
  }
}
