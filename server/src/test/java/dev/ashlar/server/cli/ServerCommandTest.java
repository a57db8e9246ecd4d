package dev.ashlar.server.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.gateway.s3.AnswerStyle;
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

  private static long dayMs(String... arguments) {
    return ServerOptions.parse(Map.of(), arguments).background().lifecycleCalendar().dayMs();
  }

  /** Else everything in the buckets of others would expire too early. */
  @Test
  void daysAreShortenedOnLoopbackAddressesOnly() {
    String shortDay = "--lifecycle-day=10";
    assertEquals(86_400_000, dayMs("--listen=0.0.0.0:9000"));
    assertEquals(86_400_000, dayMs("--listen=0.0.0.0:9000", "--lifecycle-day=86400"));
    assertEquals(10_000, dayMs("--listen=127.0.0.1:9000,localhost:9001,[::1]:9002", shortDay));
    for (String listen : List.of("0.0.0.0:9000", "[::]:9000", "127.0.0.1:9000,10.0.0.1:9000")) {
      IllegalArgumentException refused =
          assertThrows(IllegalArgumentException.class, () -> dayMs("--listen=" + listen, shortDay));
      assertTrue(String.valueOf(refused.getMessage()).contains("--lifecycle-day"));
    }
    for (String seconds : List.of("0", "-1", "86401")) {
      assertThrows(
          IllegalArgumentException.class,
          () -> dayMs("--listen=127.0.0.1:9000", "--lifecycle-day=" + seconds));
    }
    assertThrows(IllegalArgumentException.class, () -> dayMs("--lifecycle-rate=-1"));
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
        "--website-domain takes host names that no --domain is or is below, not 'a.test'",
        refusal("server", "--domain=A.test", "--website-domain=b.test,a.Test").getFirst());
    assertEquals(
        "--website-domain takes host names that no --domain is or is below, not 'a.test'",
        refusal("server", "--domain=s3.a.test", "--website-domain=a.test").getFirst());
  }

  @Test
  void answersAreThoseOfS3UnlessAskedOtherwise() {
    assertEquals(AnswerStyle.S3, ServerOptions.parse(Map.of()).service().answers());
    assertEquals(
        AnswerStyle.RADOSGW,
        ServerOptions.parse(Map.of(), "--answers=radosgw").service().answers());
    assertTrue(refusal("server", "--answers=other").getFirst().contains("--answers"));
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
