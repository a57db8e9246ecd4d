package dev.ashlar.server;

import picocli.CommandLine;
import picocli.CommandLine.Command;

/** Entry point. */
@Command(
    name = "ashlar",
    description = "S3-compatible object store on erasure-coded drives.",
    subcommands = {
      ServerCommand.class,
      ClusterCommand.class,
      AdminCommand.class,
      RehearseCommand.class
    },
    mixinStandardHelpOptions = true,
    versionProvider = Version.class)
public final class Main {
  private static final int USAGE = CommandLine.ExitCode.USAGE;

  private Main() {}

  public static void main(String[] arguments) {
    // A server ends by a signal, not by the return of its command.
    int status = execute(new CommandLine(new Main()), arguments);
    if (status != ServerCommand.RUNNING) {
      System.exit(status);
    }
  }

  /** What the process ends with. */
  static int execute(CommandLine commands, String... arguments) {
    commands.setCaseInsensitiveEnumValuesAllowed(true);
    return readConfig(commands, arguments) ? commands.execute(arguments) : USAGE;
  }

  private static boolean readConfig(CommandLine commands, String... arguments) {
    CommandLine server = commands.getSubcommands().get("server");
    if (server == null || arguments.length == 0 || !arguments[0].equals("server")) {
      return true;
    }
    try {
      ConfigFile.use(server, System.getenv(), arguments);
      return true;
    } catch (IllegalArgumentException e) {
      commands.getErr().println(e.getMessage());
      return false;
    }
  }
}
