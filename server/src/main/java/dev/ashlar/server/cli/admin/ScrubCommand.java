package dev.ashlar.server.cli.admin;

import java.io.IOException;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/** {@code ashlar admin scrub}. */
@Command(name = "scrub", description = "Shows or starts the scrubs of processes with drives.")
final class ScrubCommand implements Callable<Integer> {
  @ParentCommand private @Nullable AdminCommand parent;

  @Option(names = "--start", description = "Start a pass on every drive.")
  private boolean isStarting;

  @Option(names = "--watch", description = AdminCommand.WATCH_UNTIL_DONE)
  private boolean isWatching;

  @Override
  public Integer call() throws IOException, InterruptedException {
    return Objects.requireNonNull(parent).scrub(isStarting, isWatching);
  }
}
