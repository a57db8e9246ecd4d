package dev.ashlar.server.cli.admin;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.server.cli.Terminal;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

class WatchScreenTest {
  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
  private final PrintStream out = new PrintStream(bytes, true, StandardCharsets.UTF_8);

  private String shown() {
    String text = bytes.toString(StandardCharsets.UTF_8);
    bytes.reset();
    return text;
  }

  @Test
  void whatDoesNotFitIsCut() {
    WatchScreen screen = new WatchScreen(out, () -> new Terminal.Size(4, 10));
    screen.show(List.of("one", "two, which is long", "three", "four", "five"));
    assertEquals("\rone\u001b[K\n\rtwo, whic\u001b[K\n\r… 3 more \u001b[K\n\u001b[J", shown());
    screen.show(List.of("one"));
    assertEquals("\u001b[3A\rone\u001b[K\n\u001b[J", shown());
    screen.show(List.of("one", "two", "three"));
    assertEquals("\u001b[1A\rone\u001b[K\n\rtwo\u001b[K\n\rthree\u001b[K\n\u001b[J", shown());
  }

  @Test
  void elsewhereChangesAreShownOneBelowTheOther() {
    WatchScreen screen = new WatchScreen(out, null);
    screen.show(List.of("50 %"));
    screen.show(List.of("50 %"));
    screen.show(List.of("60 %"));
    assertEquals("50 %\n60 %\n", shown());
    screen.show(List.of("a", "b"));
    screen.show(List.of("a", "c"));
    assertEquals("\na\nb\n\na\nc\n", shown());
  }

  @Test
  void theSizeOfATerminalIsWhatItSays() {
    assertEquals(new Terminal.Size(24, 80), Terminal.Size.parse("24 80\n"));
    assertEquals(Terminal.Size.UNKNOWN, Terminal.Size.parse("0 0\n"));
    assertEquals(Terminal.Size.UNKNOWN, Terminal.Size.parse(""));
    assertEquals(Terminal.Size.UNKNOWN, Terminal.Size.parse("stty: standard input"));
  }
}
