package dev.ashlar.server.config;

import java.io.IOException;
import java.io.StringReader;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.IDefaultValueProvider;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/**
 * Options in a properties file, by their names without the dashes. The command line and the
 * environment come first. What is wrong with a value is said with the file and the line it is in.
 */
public final class ConfigFile implements IDefaultValueProvider {
  private final Path file;
  private final Map<String, Entry> entries;
  private final Map<String, String> environment;

  /**
   * @param line where it begins, from 1
   */
  private record Entry(String value, int line) {}

  private ConfigFile(Path file, Map<String, Entry> entries, Map<String, String> environment) {
    this.file = file;
    this.entries = entries;
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
  public static void use(
      CommandLine command, Map<String, String> environment, String... arguments) {
    Path file = named(arguments);
    if (file == null) {
      return;
    }
    Map<String, Entry> entries = read(file);
    entries.forEach(
        (name, entry) -> {
          OptionSpec option = command.getCommandSpec().findOption("--" + name);
          if (option == null || option.arity().max() == 0 || name.equals("config")) {
            throw new IllegalArgumentException(
                at(file, entry.line()) + "there is no option " + name);
          }
        });
    ConfigFile config = new ConfigFile(file, entries, environment);
    command.setDefaultValueProvider(config);
    CommandLine first = command;
    while (first.getParent() != null) {
      first = first.getParent();
    }
    CommandLine.IParameterExceptionHandler plain = first.getParameterExceptionHandler();
    first.setParameterExceptionHandler(
        (failure, given) -> plain.handleParseException(config.located(failure), given));
  }

  private static @Nullable Path named(String... arguments) {
    Place place = new Place();
    try {
      new CommandLine(place).setUnmatchedArgumentsAllowed(true).parseArgs(arguments);
      return place.file;
    } catch (ParameterException e) {
      return null; // The command will say so itself.
    }
  }

  private static Map<String, Entry> read(Path file) {
    List<String> lines;
    try {
      lines = Files.readAllLines(file);
    } catch (CharacterCodingException e) {
      throw new IllegalArgumentException("--config " + file + " is no text in UTF-8", e);
    } catch (IOException e) {
      throw new IllegalArgumentException("--config " + file + " cannot be read: " + e, e);
    }
    Map<String, Entry> entries = new HashMap<>();
    for (int next = 0; next < lines.size(); ) {
      int first = next++;
      while (next < lines.size() && goesOn(lines.get(next - 1)) && !isComment(lines.get(first))) {
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
  private static boolean goesOn(String line) {
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
      throw new IllegalArgumentException(at(file, line) + e.getMessage(), e);
    }
    for (String name : properties.stringPropertyNames()) {
      entries.put(name, new Entry(properties.getProperty(name), line));
    }
  }

  private static String at(Path file, int line) {
    return "--config " + file + ", line " + line + ": ";
  }

  @Override
  public @Nullable String defaultValue(ArgSpec argument) {
    Entry entry = argument instanceof OptionSpec option ? entry(option) : null;
    return entry == null ? null : entry.value();
  }

  private @Nullable Entry entry(OptionSpec option) {
    String name = option.longestName().substring(2);
    return environment.containsKey(variable(option.longestName())) ? null : entries.get(name);
  }

  /** In the environment. */
  static String variable(String option) {
    return "ASHLAR_" + option.substring(2).toUpperCase(Locale.ROOT).replace('-', '_');
  }

  /** Says where the option is given that it complains of, if that is in the file. */
  private ParameterException located(ParameterException failure) {
    CommandLine command = failure.getCommandLine();
    for (OptionSpec option : command.getCommandSpec().options()) {
      Entry entry = entry(option);
      if (entry != null && concerns(failure, option) && !isOnCommandLine(command, option)) {
        String message = at(file, entry.line()) + failure.getMessage();
        return new ParameterException(command, message, failure);
      }
    }
    return failure;
  }

  /** The parser says which option it is about; what finds values wrong later names it in words. */
  private static boolean concerns(ParameterException failure, OptionSpec option) {
    Pattern name = Pattern.compile(Pattern.quote(option.longestName()) + "(?![a-z-])");
    return option.equals(failure.getArgSpec())
        || name.matcher(String.valueOf(failure.getMessage())).find();
  }

  private static boolean isOnCommandLine(CommandLine command, OptionSpec option) {
    CommandLine.ParseResult parsed = command.getParseResult();
    return parsed != null && parsed.hasMatchedOption(option);
  }
}
