package dev.ashlar.server.cli.admin;

import java.io.IOException;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/** Changes of a drive, or of all drives of a node. */
abstract class TargetCommand implements Callable<Integer> {
  private static final String TARGET =
      "Name of a node, or id of a drive (or its unique beginning).";

  @ParentCommand private @Nullable AdminCommand parent;

  AdminCommand admin() {
    return Objects.requireNonNull(parent);
  }

  @Command(
      name = "drain",
      description = "Moves all data off the target, which can then be removed.")
  int drain(
      @Parameters(paramLabel = "TARGET", description = TARGET) String target,
      @Option(names = "--watch", description = AdminCommand.WATCH_UNTIL_DONE) boolean isWatching)
      throws IOException, InterruptedException {
    return change("drain", target, isWatching);
  }

  @Command(
      name = "undrain",
      description = "Cancels a drain: the target gets its share of the data again.")
  int undrain(
      @Parameters(paramLabel = "TARGET", description = TARGET) String target,
      @Option(names = "--watch", description = AdminCommand.WATCH_UNTIL_DONE) boolean isWatching)
      throws IOException, InterruptedException {
    return change("undrain", target, isWatching);
  }

  @Command(
      name = "out",
      description = "Declares a down node or drive lost and rebuilds its data elsewhere.")
  int out(
      @Parameters(paramLabel = "TARGET", description = TARGET) String target,
      @Option(names = "--watch", description = AdminCommand.WATCH_UNTIL_DONE) boolean isWatching)
      throws IOException, InterruptedException {
    return change("out", target, isWatching);
  }

  @Command(
      name = "in",
      description = "Takes a node or drive in again that is out: it gets its share of the data.")
  int in(
      @Parameters(paramLabel = "TARGET", description = TARGET) String target,
      @Option(names = "--watch", description = AdminCommand.WATCH_UNTIL_DONE) boolean isWatching)
      throws IOException, InterruptedException {
    return change("in", target, isWatching);
  }

  private int change(String name, String target, boolean isWatching)
      throws IOException, InterruptedException {
    int code = admin().change(name, target, null);
    return isWatching
        ? admin().watchProgress(name.equals("out") ? "repair" : "rebalance", true)
        : code;
  }
}
