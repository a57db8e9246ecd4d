package dev.ashlar.server.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.server.Main;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** What is wrong in the file that --config names is said with the file and the line. */
class OptionSourcesTest {
  @TempDir private Path folder = Path.of("");

  /** Of a start that each of these files keeps from happening. */
  private String refusal(String text, String... arguments) throws IOException {
    return refusal(text.getBytes(StandardCharsets.UTF_8), arguments);
  }

  private String refusal(byte[] bytes, String... arguments) throws IOException {
    List<String> all = new ArrayList<>(List.of("server", "--config", file().toString()));
    // The default ports may be in use on this machine.
    all.addAll(List.of("--listen", "127.0.0.1:0", "--management-listen", "127.0.0.1:0"));
    all.addAll(List.of(arguments));
    Files.write(file(), bytes);
    return refused(all.toArray(String[]::new));
  }

  private static String refused(String... arguments) {
    StringWriter said = new StringWriter();
    CommandLine commands = new CommandLine(Main.class);
    commands.setErr(new PrintWriter(said, true));
    assertEquals(CommandLine.ExitCode.USAGE, Main.execute(commands, arguments), said::toString);
    return said.toString();
  }

  private Path file() {
    return folder.resolve("ashlar.properties");
  }

  private String line(int number) {
    return "--config " + file() + ", line " + number + ": ";
  }

  @Test
  void aBadValueIsSaidWithItsLineAndOption() throws IOException {
    String said = refusal("# Of this host\n\nregion=here\nhedge-budget=a lot\n");
    assertTrue(said.startsWith(line(4)), said);
    assertTrue(said.contains("--hedge-budget") && said.contains("a lot"), said);
    String sizes = refusal("repair-rate=50MiB\ndrive-capacity = \\\n  much\n");
    assertTrue(sizes.startsWith(line(2)), sizes);
    assertTrue(sizes.contains("--drive-capacity") && sizes.contains("much"), sizes);
  }

  @Test
  void soIsAValueThatCannotBe() throws IOException {
    String said = refusal("repair-rate=50MiB\ndrive-capacity=5MiB\n");
    assertTrue(said.startsWith(line(2) + "--drive-capacity"), said);
  }

  @Test
  void whatStandsOnTheCommandLineIsNotTheFilesFault() throws IOException {
    String said = refusal("hedge-budget=5\n", "--hedge-budget=101");
    assertTrue(said.startsWith("--hedge-budget takes 0 to 100"), said);
  }

  @Test
  void garbageIsSaidWithItsFile() throws IOException {
    String text = refusal("region=here\nsome text\n");
    assertTrue(text.startsWith(line(2) + "there is no option some"), text);
    String escape = refusal("region=here\n# \\\nrack=\\u12\n");
    assertTrue(escape.startsWith(line(3)), escape);
    String flag = refusal("help=me\n");
    assertTrue(flag.startsWith(line(1) + "there is no option help"), flag);
    String bytes = refusal(new byte[] {0x7f, 'E', 'L', 'F', (byte) 0xff, (byte) 0xfe});
    assertTrue(bytes.startsWith("--config " + file() + " is not text"), bytes);
  }

  @Test
  void aFileThatIsNotNamedIsAnErrorOfUsage() {
    assertTrue(refused("server", "--config").contains("--config"));
  }
}
