package dev.ashlar.server.config;

import dev.ashlar.server.config.MinioAliases.Alias;
import java.io.IOException;
import java.io.StringReader;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.IDefaultValueProvider;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;

/**
 * Where options come from besides the command line: environment variables ({@code --stripe-unit} is
 * {@code ASHLAR_STRIPE_UNIT}), then the properties file that {@code --config} names ({@code
 * stripe-unit}), then the environment under MinIO's and OpenTelemetry's names, then the defaults of
 * their declarations. Errors name the variable, or the file and line, that the value comes from.
 */
public final class OptionSources implements IDefaultValueProvider {
  private final @Nullable Path file;
  private final Map<String, Entry> entries;
  private final Map<String, String> environment;
  private final Map<String, Alias> aliasesOfArguments;
  private final Map<String, Alias> aliasesOfEnvironment;

  /**
   * A value of the file.
   *
   * @param line its first line, from 1
   */
  private record Entry(String value, int line) {}

  private OptionSources(
      @Nullable Path file,
      Map<String, Entry> entries,
      Map<String, String> environment,
      Map<String, Alias> aliasesOfArguments) {
    this.file = file;
    this.entries = entries;
    this.environment = environment;
    this.aliasesOfArguments = aliasesOfArguments;
    aliasesOfEnvironment = new HashMap<>(MinioAliases.ofEnvironment(environment));
    aliasesOfEnvironment.putAll(OtelVariables.aliases(environment));
  }

  /** Only the option that has to be known before the others are parsed. */
  private static final class Location {
    @Option(names = "--config")
    private @Nullable Path file;
  }

  /**
   * Lets the command take options from the environment and from the file that these arguments name.
   *
   * @throws IllegalArgumentException if the file cannot be read, or names an unknown option
   */
  public static void use(
      CommandLine command, Map<String, String> environment, String... arguments) {
    Path file = file(environment, arguments);
    Map<String, Entry> entries = file == null ? Map.of() : read(file);
    entries.forEach(
        (name, entry) -> {
          OptionSpec option = command.getCommandSpec().findOption("--" + name);
          if (option == null || !isSettable(option) || name.equals("config")) {
            throw new IllegalArgumentException(
                at(file, entry.line()) + ": there is no option " + name);
          }
        });
    OptionSources sources =
        new OptionSources(file, entries, environment, MinioAliases.ofArguments(arguments));
    command.setDefaultValueProvider(sources);
    CommandLine root = command.getCommandSpec().root().commandLine();
    CommandLine.IParameterExceptionHandler handler = root.getParameterExceptionHandler();
    root.setParameterExceptionHandler(
        (failure, given) -> handler.handleParseException(sources.located(failure), given));
  }

  private static @Nullable Path file(Map<String, String> environment, String... arguments) {
    Location location = new Location();
    try {
      new CommandLine(location).setUnmatchedArgumentsAllowed(true).parseArgs(arguments);
    } catch (ParameterException e) {
      return null; // The command reports it.
    }
    String variable = environment.get(variable("--config"));
    return location.file == null && variable != null ? Path.of(variable) : location.file;
  }

  private static Map<String, Entry> read(Path file) {
    List<String> lines;
    try {
      lines = Files.readAllLines(file);
    } catch (CharacterCodingException e) {
      throw new IllegalArgumentException("--config " + file + " is not text in UTF-8", e);
    } catch (IOException e) {
      throw new IllegalArgumentException("--config " + file + " cannot be read: " + e, e);
    }
    Map<String, Entry> entries = new HashMap<>();
    for (int next = 0; next < lines.size(); ) {
      int first = next++;
      while (next < lines.size()
          && continues(lines.get(next - 1))
          && !isComment(lines.get(first))) {
        next++;
      }
      parse(file, first + 1, String.join("\n", lines.subList(first, next)), entries);
    }
    return entries;
  }

  private static boolean isComment(String line) {
    String text = line.stripLeading();
    return text.startsWith("#") || text.startsWith("!");
  }

  /** Whether it ends in a backslash that is not itself escaped. */
  private static boolean continues(String line) {
    int end = line.length();
    while (end > 0 && line.charAt(end - 1) == '\\') {
      end--;
    }
    return (line.length() - end) % 2 == 1;
  }

  private static void parse(Path file, int line, String text, Map<String, Entry> entries) {
    Properties properties = new Properties();
    try {
      properties.load(new StringReader(text));
    } catch (IOException | IllegalArgumentException e) {
      throw new IllegalArgumentException(at(file, line) + ": " + e.getMessage(), e);
    }
    for (String name : properties.stringPropertyNames()) {
      entries.put(name, new Entry(properties.getProperty(name), line));
    }
  }

  private static String at(@Nullable Path file, int line) {
    return "--config " + file + ", line " + line;
  }

  @Override
  public @Nullable String defaultValue(ArgSpec argument) {
    if (!(argument instanceof OptionSpec option) || !isSettable(option)) {
      return null;
    }
    Alias found = find(option);
    return found == null ? null : found.value();
  }

  /** What is said of the option elsewhere than on the command line; null: nothing. */
  private @Nullable Alias find(OptionSpec option) {
    String name = option.longestName();
    Alias argument = aliasesOfArguments.get(name);
    if (argument != null) {
      return argument;
    }
    String value = environment.get(variable(name));
    if (value != null) {
      return new Alias(value, inEnvironment(variable(name)));
    }
    Entry entry = entries.get(name.substring(2));
    return entry == null
        ? aliasesOfEnvironment.get(name)
        : new Alias(entry.value(), at(file, entry.line()));
  }

  /** Whether it can be set elsewhere than on the command line: help and version cannot. */
  private static boolean isSettable(OptionSpec option) {
    return option.arity().max() > 0 && !MinioOptions.NAMES.contains(option.longestName());
  }

  static String inEnvironment(String variable) {
    return variable + " in the environment";
  }

  /**
   * The options of a command that {@link #use} was called for and that has been parsed, in the
   * order of their declarations.
   */
  public static List<Setting> settings(CommandSpec command) {
    OptionSources sources =
        (OptionSources) Objects.requireNonNull(command.defaultValueProvider(), "no sources");
    List<Setting> settings = new ArrayList<>();
    for (OptionSpec option : command.options()) {
      if (isSettable(option)) {
        settings.add(sources.setting(command.commandLine(), option));
      }
    }
    return settings;
  }

  private Setting setting(CommandLine command, OptionSpec option) {
    String name = option.longestName();
    if (isOnCommandLine(command, option)) {
      String value = String.join(",", option.originalStringValues());
      return new Setting(name, value, Setting.COMMAND_LINE);
    }
    Alias found = find(option);
    return found == null
        ? new Setting(name, Objects.requireNonNullElse(option.defaultValue(), ""), Setting.DEFAULT)
        : new Setting(name, found.value(), found.from());
  }

  /** Variables of MinIO that have no meaning here, sorted. */
  public static List<String> unknownOfMinio(Map<String, String> environment) {
    return MinioAliases.unknown(environment);
  }

  /** Of the settings, those that were made under MinIO's names. */
  public static List<Setting> madeAsForMinio(List<Setting> settings) {
    return settings.stream()
        .filter(
            setting ->
                setting.from().startsWith("MINIO_") || MinioOptions.NAMES.contains(setting.from()))
        .toList();
  }

  /** The environment variable of an option. */
  public static String variable(String option) {
    return "ASHLAR_" + option.substring(2).toUpperCase(Locale.ROOT).replace('-', '_');
  }

  /** Adds where the value comes from that the failure is about, unless from the command line. */
  private ParameterException located(ParameterException failure) {
    CommandLine command = failure.getCommandLine();
    for (OptionSpec option : command.getCommandSpec().options()) {
      if (concerns(failure, option) && !isOnCommandLine(command, option)) {
        Alias found = find(option);
        return found == null
            ? failure
            : new ParameterException(command, found.from() + ": " + failure.getMessage(), failure);
      }
    }
    return failure;
  }

  /** The parser names the option it is about; later checks name it in their messages. */
  private static boolean concerns(ParameterException failure, OptionSpec option) {
    Pattern name = Pattern.compile(Pattern.quote(option.longestName()) + "(?![a-z-])");
    return option.equals(failure.getArgSpec())
        || name.matcher(String.valueOf(failure.getMessage())).find();
  }

  private static boolean isOnCommandLine(CommandLine command, OptionSpec option) {
    ParseResult parsed = command.getParseResult();
    return parsed != null && parsed.hasMatchedOption(option);
  }
}
