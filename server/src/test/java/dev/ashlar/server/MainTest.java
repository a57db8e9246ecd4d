package dev.ashlar.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

class MainTest {
  /** Whatever one does, it does as well when it is made alone. */
  @Test
  void aCommandMadeAloneHelpsAsAmongAll() {
    CommandLine all = Main.commands();
    assertTrue(all.getSubcommands().keySet().containsAll(Set.of("server", "cluster", "admin")));
    all.getSubcommands()
        .forEach(
            (name, among) -> {
              CommandLine alone = Main.commands(name, "--help");
              assertEquals(Set.of(name), alone.getSubcommands().keySet());
              assertInstanceOf(Main.class, alone.getCommandSpec().root().userObject());
              CommandLine own = Objects.requireNonNull(alone.getSubcommands().get(name));
              assertEquals(among.getUsageMessage(), own.getUsageMessage());
            });
  }

  @Test
  void whatNamesNoCommandIsAnsweredByAll() {
    assertTrue(Main.commands("--help").getSubcommands().containsKey("server"));
    StringWriter said = new StringWriter();
    CommandLine all = Main.commands("sevrer").setErr(new PrintWriter(said, true));
    assertEquals(CommandLine.ExitCode.USAGE, Main.execute(all, "sevrer"));
    assertTrue(said.toString().contains("server"), said.toString());
  }

  @Test
  void aWrongOptionOfACommandAloneIsAnErrorOfUsage() {
    StringWriter said = new StringWriter();
    String[] arguments = {"admin", "status", "--no-such-option"};
    CommandLine alone = Main.commands(arguments).setErr(new PrintWriter(said, true));
    assertEquals(CommandLine.ExitCode.USAGE, Main.execute(alone, arguments));
    assertTrue(said.toString().contains("All options: ashlar admin status --help"), "" + said);
  }
}
