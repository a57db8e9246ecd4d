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
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

/** What all commands have in common. */
class BenchTest {
  private static final Duration QUICK_MAX = Duration.ofSeconds(150);

  @TempDir private Path folder = Path.of("");

  static Stream<String> commands() {
    return Bench.commandLine().getSubcommands().keySet().stream();
  }

  static Stream<String> commandsThatMeasure() {
    return Stream.concat(commands(), Stream.of("codec jmh"));
  }

  /** Anyone can afford it: by arithmetic, so that a slow machine does not fail it. */
  @ParameterizedTest
  @MethodSource("commandsThatMeasure")
  void asItIsACommandTakesLessThanThreeMinutes(String name) throws IOException {
    // Two servers are what versus has where minio is installed.
    Plan plan =
        name.equals("versus")
            ? plan(name, "--servers=ashlar", "--metadata=1,5")
            : plan(name.split(" "));
    assertTrue(plan.total().compareTo(QUICK_MAX) < 0, () -> name + " takes " + plan);
    String row =
        Files.readAllLines(Path.of("../docs/reference/bench.md")).stream()
            .filter(line -> line.startsWith("| `" + name + "` |"))
            .findFirst()
            .orElseThrow();
    assertTrue(row.contains("| " + plan + " |"), () -> row + " but takes " + plan);
  }

  @Test
  void whatIsToBeQuotedTakesLonger() {
    for (String name : List.of("curves", "versus")) {
      assertTrue(plan(name, "--full").total().compareTo(Duration.ofMinutes(20)) > 0);
    }
    assertEquals(
        Duration.ofMinutes(10),
        plan("soak", "--minutes=11.75").total().minus(plan("soak").total()));
  }

  private static Plan plan(String... arguments) {
    CommandLine commands = Bench.commandLine();
    commands.parseArgs(arguments);
    CommandLine last = commands.getParseResult().asCommandLineList().getLast();
    return assertInstanceOf(Plan.Planned.class, last.getCommand()).plan();
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

  /** Before anything is begun, in a line that names what is wrong. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "curves --depth 0: a depth of 1 to 256",
        "curves --block-size 8MiB: A block has 1 byte to 4 MiB",
        "curves --clients 17: 1 to 16 clients",
        "curves --profile four: profile 'four': expected k+m",
        "load --profile four: profile 'four': expected k+m",
        "load --seconds 0: '0' is no time in seconds",
        "load --warm-up -1: '-1' is no time in seconds",
        "load --mix read=10: come to 100",
        "load --object-size 4KiB: A block cannot be larger than the object it is in",
        "soak --object-size 4KiB: A block cannot be larger than the object it is in",
        "load --ashlar /none: There is no launcher at /none",
        "load --folder /proc/none: /proc/none: is not there",
        "io-cost --profile 6+2,optimizations=of: expected k+m",
        "load --clients 0: 1 to 16 clients",
        "load --storage-class COLD: --storage-class needs --endpoint",
        "curves --storage-class COLD: --storage-class needs --endpoint",
        "load --storage-class A/B: 'A/B' is no storage class",
        "versus --servers minoi: --servers takes [ashlar, minio, none], not [minoi]",
        "capacity --folder /dev/null: /dev/null: something is there already",
      })
  void whatCannotBeMeasuredIsSaidInALine(String commandAndReason) {
    String[] parts = commandAndReason.split(": ", 2);
    List<String> arguments = new ArrayList<>(List.of(parts[0].split(" ", -1)));
    arguments.addAll(List.of("--results", folder.toString()));
    Printed printed = Printed.by(arguments.toArray(String[]::new));
    assertTrue(printed.status() == 1 || printed.status() == 2, printed.err());
    assertTrue(printed.err().contains(parts[1]), printed.err());
    assertFalse(printed.err().contains("\tat "), printed.err());
  }

  @Test
  void resultsThatCannotBeKeptAreSaidBeforeAnythingIsMeasured() {
    // Without warp, versus says that first.
    for (String name : commands().filter(each -> !each.equals("versus")).toList()) {
      Printed printed = Printed.by(name, "--results=/dev/null");
      assertTrue(printed.err().contains("/dev/null: something is there already"), printed.err());
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
