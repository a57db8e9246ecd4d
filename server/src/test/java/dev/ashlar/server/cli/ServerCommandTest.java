package dev.ashlar.server.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.server.Main;
import dev.ashlar.server.config.ClusterFlags;
import dev.ashlar.server.config.ScrubFlags;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

class ServerCommandTest {
  @Command(name = "server")
  private static final class Scrubbing {
    @Mixin private ScrubFlags flags = new ScrubFlags();
  }

  private static long scrubRate(String... arguments) {
    Scrubbing server = new Scrubbing();
    new CommandLine(server).parseArgs(arguments);
    return server.flags.options().bytesPerSecond();
  }

  @Test
  void theRateOfScrubsHasUnits() {
    assertEquals(32 << 20, scrubRate());
    assertEquals(50 << 20, scrubRate("--scrub-rate", "50MiB"));
    assertEquals(4096, scrubRate("--scrub-rate", "4096"));
    assertThrows(ParameterException.class, () -> scrubRate("--scrub-rate", "fast"));
  }

  @Test
  void aRefusalIsNotFollowedByAPageOfOptions() {
    String anyPort = "--listen=127.0.0.1:0";
    assertEquals(
        List.of(
            "profile 6+2 needs at least 8 drive folders, --data names 6",
            "All options: ashlar server --help"),
        refusal("server", "--profile", "6+2", anyPort, "--management-" + anyPort.substring(2)));
    List<String> unknown = refusal("server", "--profil", "4+2");
    assertTrue(unknown.getFirst().contains("--profil"), unknown::toString);
    assertTrue(unknown.size() <= 4, unknown::toString);
    assertTrue(refusal("admin", "drive", "recall").size() <= 4);
  }

  private static List<String> refusal(String... arguments) {
    StringWriter said = new StringWriter();
    CommandLine commands = new CommandLine(Main.class).setErr(new PrintWriter(said, true));
    assertEquals(CommandLine.ExitCode.USAGE, Main.execute(commands, arguments), said::toString);
    return said.toString().lines().toList();
  }

  @Test
  void everyOptionCanBeGivenInTheEnvironment() {
    int options = 0;
    List<Field> fields = new ArrayList<>(List.of(ServerCommand.class.getDeclaredFields()));
    fields.addAll(List.of(ClusterFlags.class.getDeclaredFields()));
    fields.addAll(List.of(ScrubFlags.class.getDeclaredFields()));
    for (Field field : fields) {
      Option option = field.getAnnotation(Option.class);
      if (option != null) {
        String name = option.names()[0].substring(2);
        String variable = "ASHLAR_" + name.toUpperCase(Locale.ROOT).replace('-', '_');
        String value = option.defaultValue();
        assertTrue(value.matches("\\$\\{env:" + variable + "(:-.*)?}"), name + ": " + value);
        options++;
      }
    }
    assertTrue(options > 0);
  }
}
