package dev.ashlar.server.cli.admin;

import java.io.IOException;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/** {@code ashlar admin rebalance}. */
@Command(name = "rebalance", description = "Shows what is moved between drives.")
final class RebalanceCommand implements Callable<Integer> {
  @ParentCommand private @Nullable AdminCommand parent;

  @Option(names = "--watch", description = AdminCommand.WATCH_UNTIL_DONE)
  private boolean isWatching;

  @Override
  public Integer call() throws IOException, InterruptedException {
    return isWatching
        ? admin().watchProgress("rebalance", false)
        : admin().show("rebalance", false);
  }

  @Command(name = "pause", description = "Pauses all moves. Repair continues.")
  int pause() throws IOException, InterruptedException {
    return admin().change("pause", null, null);
  }

  @Command(name = "resume", description = "Resumes moves.")
  int resume() throws IOException, InterruptedException {
    return admin().change("resume", null, null);
  }

  private AdminCommand admin() {
    return Objects.requireNonNull(parent);
  }
}
