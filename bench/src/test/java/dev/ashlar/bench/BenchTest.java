package dev.ashlar.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.invoke.MethodType;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

/** What all commands have in common. */
class BenchTest {
  private static final Duration QUICK_MAX = Duration.ofSeconds(150);

  static Stream<String> commands() {
    return Bench.commandLine().getSubcommands().keySet().stream();
  }

  /** Anyone can afford it: by arithmetic, so that a slow machine does not fail it. */
  @ParameterizedTest
  @MethodSource("commands")
  void asItIsACommandTakesLessThanThreeMinutes(String name) throws IOException {
    // Two servers are what versus has where minio is installed.
    Plan plan =
        name.equals("versus") ? plan(name, "--servers=ashlar", "--metadata=1,5") : plan(name);
    assertTrue(plan.total().compareTo(QUICK_MAX) < 0, () -> name + " takes " + plan);
    String row =
        Files.readAllLines(Path.of("../docs/benchmarks.md")).stream()
            .filter(line -> line.startsWith("| `" + name + "` |"))
            .findFirst()
            .orElseThrow();
    assertTrue(row.contains("| " + plan + " |"), () -> row + " but takes " + plan);
  }

  @Test
  void whatIsToBeQuotedTakesLonger() {
    for (String name : List.of("curves", "changing", "versus")) {
      assertTrue(plan(name, "--full").total().compareTo(Duration.ofMinutes(20)) > 0);
    }
    assertEquals(
        Duration.ofMinutes(10),
        plan("soak", "--minutes=11.75").total().minus(plan("soak").total()));
  }

  private static Plan plan(String... arguments) {
    CommandLine commands = Bench.commandLine();
    commands.parseArgs(arguments);
    return assertInstanceOf(Planned.class, named(commands, arguments[0]).getCommand()).plan();
  }

  private static CommandLine named(CommandLine commands, String name) {
    return Objects.requireNonNull(commands.getSubcommands().get(name));
  }

  @ParameterizedTest
  @MethodSource("commands")
  void aCommandKeepsItsResultsAndSaysThemAsAsked(String name) {
    CommandLine command = named(Bench.commandLine(), name);
    for (String option : List.of("--results", "--phase", "--json")) {
      assertTrue(command.getCommandSpec().optionsMap().containsKey(option), name + option);
    }
  }

  @Test
  void howLongItTakesIsSaidInWords() {
    assertEquals("34 seconds", new Plan().add(1, 30).inWords());
    assertEquals("1 minute 1 second", new Plan().add(1, 57).inWords());
    assertEquals("3 minutes", new Plan().add(1, 176).inWords());
  }

  /** What separates values is for the parser, and no reader's business. */
  @ParameterizedTest
  @MethodSource("commands")
  void helpShowsNoRegularExpression(String name) {
    String help = Printed.by(name, "--help").out();
    assertFalse(help.contains("(?"), help);
  }

  @Test
  void anOptionIsOfTheSameKindInAllCommands() {
    Map<String, Class<?>> types = new HashMap<>();
    Bench.commandLine()
        .getSubcommands()
        .forEach(
            (name, command) -> {
              for (OptionSpec option : command.getCommandSpec().options()) {
                String longest = option.longestName();
                Class<?> type = option.auxiliaryTypes()[0];
                Class<?> before = types.putIfAbsent(longest, type);
                boolean isSame = before == null || kind(before).equals(kind(type));
                assertTrue(isSame, () -> name + " " + longest + ": " + type + ", not " + before);
              }
            });
  }

  /** A choice among constants is one, whichever constants a command has. */
  private static Class<?> kind(Class<?> type) {
    return type.isEnum() ? Enum.class : MethodType.methodType(type).wrap().returnType();
  }
}
