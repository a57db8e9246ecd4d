package dev.ashlar.server;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.IDefaultValueProvider;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;

/**
 * Options in a properties file, by their names without the dashes. The command line and the
 * environment come first.
 */
final class ConfigFile implements IDefaultValueProvider {
  private final Properties properties;
  private final Map<String, String> environment;

  private ConfigFile(Properties properties, Map<String, String> environment) {
    this.properties = properties;
    this.environment = environment;
  }

  /** Where the file is has to be known before the other options are looked at. */
  private static final class Place {
    @Option(names = "--config", defaultValue = "${env:ASHLAR_CONFIG}")
    private @Nullable Path file;
  }

  /**
   * Gives the command the values of the file that these arguments name, if they do.
   *
   * @throws IllegalArgumentException when the file cannot be read, or names no option
   */
  static void use(CommandLine command, Map<String, String> environment, String... arguments) {
    Place place = new Place();
    new CommandLine(place).setUnmatchedArgumentsAllowed(true).parseArgs(arguments);
    Path file = place.file;
    if (file == null) {
      return;
    }
    Properties properties = new Properties();
    try (var reader = Files.newBufferedReader(file)) {
      properties.load(reader);
    } catch (IOException | IllegalArgumentException e) {
      throw new IllegalArgumentException("--config " + file + " cannot be read: " + e, e);
    }
    for (String name : properties.stringPropertyNames()) {
      if (command.getCommandSpec().findOption("--" + name) == null || name.equals("config")) {
        throw new IllegalArgumentException("--config " + file + ": there is no option " + name);
      }
    }
    command.setDefaultValueProvider(new ConfigFile(properties, environment));
  }

  @Override
  public @Nullable String defaultValue(ArgSpec argument) {
    if (!(argument instanceof OptionSpec option)) {
      return null;
    }
    String name = option.longestName().substring(2);
    String variable = "ASHLAR_" + name.toUpperCase(Locale.ROOT).replace('-', '_');
    return environment.containsKey(variable) ? null : properties.getProperty(name);
  }
}
