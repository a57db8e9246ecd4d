package dev.ashlar.server.config;

import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * What the command line of MinIO's server has, so that a command for it starts this server, too.
 */
public final class MinioOptions {
  static final String ADDRESS = "--address";
  static final String CONSOLE_ADDRESS = "--console-address";

  /** Known on the command line only: everywhere else there is the option that they stand for. */
  public static final Set<String> NAMES = Set.of(ADDRESS, CONSOLE_ADDRESS);

  @Parameters(
      paramLabel = "FOLDER",
      arity = "0..*",
      description = "Data folders, in place of --data.")
  private List<String> folders = List.of();

  @Option(
      names = ADDRESS,
      paramLabel = "[HOST]:PORT",
      description = "As --listen. Without HOST: all addresses of this machine.")
  private @Nullable String address;

  @Option(
      names = CONSOLE_ADDRESS,
      paramLabel = "[HOST]:PORT",
      description =
          "The port is that of --management-listen; the host stays 127.0.0.1, because there is no"
              + " console.")
  private @Nullable String consoleAddress;

  /** In the syntax of --data; empty if none are given. */
  String folders() {
    return String.join(",", folders);
  }

  @Nullable String address() {
    return address;
  }

  @Nullable String consoleAddress() {
    return consoleAddress;
  }
}
