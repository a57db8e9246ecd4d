package dev.ashlar.server.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.server.Main;
import dev.ashlar.server.config.MinioOptions;
import dev.ashlar.server.config.OptionSources;
import dev.ashlar.server.config.ServerOptions;
import dev.ashlar.storage.drive.scrub.ScrubConfig;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;

class ServerCommandTest {
  private static ScrubConfig scrub(String... arguments) {
    return ServerOptions.parse(Map.of(), arguments).background().scrub();
  }

  @Test
  void scrubRateAcceptsUnits() {
    assertEquals(32 << 20, scrub().bytesPerSecondMax());
    assertEquals(50 << 20, scrub("--scrub-rate", "50MiB").bytesPerSecondMax());
    assertEquals(4096, scrub("--scrub-rate", "4096").bytesPerSecondMax());
    assertThrows(ParameterException.class, () -> scrub("--scrub-rate", "fast"));
  }

  @Test
  void wrongArgumentsGetOneLineAndAHint() {
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

  @Test
  void intervalsOfAccessLogsAndHostsOfWebsites() {
    ServerOptions options =
        ServerOptions.parse(
            Map.of(), "--access-log-interval=7", "--website-domain=Web.Test,b.test");
    assertEquals(Duration.ofSeconds(7), options.background().accessLogInterval());
    assertEquals(List.of("web.test", "b.test"), options.service().websiteDomains());
    assertEquals(
        "--access-log-interval takes 1 to 900, not 901",
        refusal("server", "--access-log-interval=901").getFirst());
    assertEquals(
        "--website-domain takes host names other than those of --domain, not 'a.test'",
        refusal("server", "--domain=a.test", "--website-domain=b.test,A.test").getFirst());
  }

  /** systemd starts the server again after 1, and not after 2. */
  @Test
  void anAddressThatIsTakenMayBeFreeLater() throws IOException {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      int status =
          Main.execute(
              new CommandLine(Main.class),
              "server",
              "--listen=127.0.0.1:" + taken.getLocalPort(),
              "--management-listen=127.0.0.1:0");
      assertEquals(1, status);
    }
  }

  private static List<String> refusal(String... arguments) {
    StringWriter said = new StringWriter();
    CommandLine commands = new CommandLine(Main.class).setErr(new PrintWriter(said, true));
    assertEquals(CommandLine.ExitCode.USAGE, Main.execute(commands, arguments), said::toString);
    return said.toString().lines().toList();
  }

  @Test
  void everyOptionCanBeSetInTheEnvironment() {
    int options = 0;
    List<OptionSpec> all =
        new ArrayList<>(new CommandLine(new ServerOptions()).getCommandSpec().options());
    all.removeIf(option -> MinioOptions.NAMES.contains(option.longestName()));
    for (OptionSpec option : all) {
      CommandLine server = new CommandLine(new ServerOptions());
      String value = option.longestName().equals("--config") ? "/dev/null" : "1";
      String variable = "ASHLAR_" + option.longestName().substring(2).toUpperCase(Locale.ROOT);
      OptionSources.use(server, Map.of(variable.replace('-', '_'), value));
      OptionSpec set = server.getCommandSpec().findOption(option.longestName());
      assertEquals(value, set.defaultValueString());
      options++;
    }
    assertTrue(options > 30, () -> "only some options");
  }
}
