package dev.ashlar.server;

import dev.ashlar.server.cli.ClusterCommand;
import dev.ashlar.server.cli.FsckCommand;
import dev.ashlar.server.cli.RehearseCommand;
import dev.ashlar.server.cli.ServerCommand;
import dev.ashlar.server.cli.Version;
import dev.ashlar.server.cli.admin.AdminCommand;
import dev.ashlar.server.cli.imports.ImportCommand;
import dev.ashlar.server.config.OptionSources;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.Objects;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/** Entry point. */
@Command(
    name = "ashlar",
    description = "S3-compatible object store on erasure-coded drives.",
    subcommands = {
      ServerCommand.class,
      ClusterCommand.class,
      AdminCommand.class,
      ImportCommand.class,
      FsckCommand.class,
      RehearseCommand.class
    },
    mixinStandardHelpOptions = true,
    versionProvider = Version.class)
public final class Main {
  private static final int USAGE = CommandLine.ExitCode.USAGE;

  private Main() {}

  public static void main(String[] arguments) {
    // A server ends by a signal, not by the return of its command.
    int status = execute(commands(arguments), arguments);
    if (status != ServerCommand.RUNNING) {
      System.exit(status);
    }
  }

  /**
   * The command that the first argument names, alone: to read the declarations of all of them would
   * take a good part of a start. All, if it names none.
   */
  static CommandLine commands(String... arguments) {
    String name = arguments.length == 0 ? "" : arguments[0];
    for (Class<?> each : declaration(Main.class).subcommands()) {
      if (declaration(each).name().equals(name)) {
        CommandSpec main = CommandSpec.wrapWithoutInspection(new Main());
        main.name(declaration(Main.class).name()).addSubcommand(name, new CommandLine(each));
        return new CommandLine(main);
      }
    }
    return new CommandLine(new Main());
  }

  private static Command declaration(Class<?> command) {
    return Objects.requireNonNull(command.getAnnotation(Command.class));
  }

  /** What the process ends with. */
  public static int execute(CommandLine commands, String... arguments) {
    commands.setCaseInsensitiveEnumValuesAllowed(true);
    commands.setParameterExceptionHandler((refused, all) -> refuse(refused));
    commands.setExecutionExceptionHandler((failure, command, parsed) -> fail(failure, command));
    return readConfig(commands, arguments) ? commands.execute(arguments) : USAGE;
  }

  /** Says what is wrong; a page of options after it would hide that. */
  private static int refuse(ParameterException refused) {
    CommandLine command = refused.getCommandLine();
    PrintWriter err = command.getErr();
    err.println(refused.getMessage());
    UnmatchedArgumentException.printSuggestions(refused, err);
    err.println("All options: " + command.getCommandSpec().qualifiedName() + " --help");
    return USAGE;
  }

  /** An I/O error is one line; anything else is a bug and keeps its trace. */
  private static int fail(Exception failure, CommandLine command) throws Exception {
    if (!(failure instanceof IOException)) {
      throw failure;
    }
    command.getErr().println("ashlar: " + failure.getMessage());
    return command.getCommandSpec().exitCodeOnExecutionException();
  }

  private static boolean readConfig(CommandLine commands, String... arguments) {
    CommandLine server = commands.getSubcommands().get("server");
    if (server == null || arguments.length == 0 || !arguments[0].equals("server")) {
      return true;
    }
    try {
      OptionSources.use(server, System.getenv(), arguments);
      return true;
    } catch (IllegalArgumentException e) {
      commands.getErr().println(e.getMessage());
      return false;
    }
  }
}
