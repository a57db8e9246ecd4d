package dev.ashlar.server;

import picocli.CommandLine;
import picocli.CommandLine.Command;

/** Entry point. */
@Command(
    name = "ashlar",
    description = "S3-compatible object store on erasure-coded drives.",
    subcommands = {ServerCommand.class, RehearseCommand.class},
    mixinStandardHelpOptions = true,
    versionProvider = Version.class)
public final class Main {
  private Main() {}

  public static void main(String[] arguments) {
    // A server ends by a signal, not by the return of its command.
    int status =
        new CommandLine(new Main()).setCaseInsensitiveEnumValuesAllowed(true).execute(arguments);
    if (status != ServerCommand.RUNNING) {
      System.exit(status);
    }
  }
}
