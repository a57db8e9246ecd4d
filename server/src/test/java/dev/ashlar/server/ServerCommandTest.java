package dev.ashlar.server;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Locale;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

class ServerCommandTest {
  @Test
  void everyOptionCanBeGivenInTheEnvironment() {
    int options = 0;
    for (OptionSpec option : new CommandLine(new ServerCommand()).getCommandSpec().options()) {
      if (!option.usageHelp() && !option.versionHelp()) {
        String name = option.longestName().substring(2);
        String variable = "ASHLAR_" + name.toUpperCase(Locale.ROOT).replace('-', '_');
        String value = String.valueOf(option.defaultValue());
        assertTrue(value.matches("\\$\\{env:" + variable + "(:-.*)?}"), name + ": " + value);
        options++;
      }
    }
    assertTrue(options > 0);
  }
}
