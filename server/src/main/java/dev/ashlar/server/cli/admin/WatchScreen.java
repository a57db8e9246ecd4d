package dev.ashlar.server.cli.admin;

import dev.ashlar.server.cli.Terminal;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What a watch shows: in a terminal each time in the place of what was there before, elsewhere one
 * below the other as often as it changes.
 */
final class WatchScreen {
  private final PrintStream out;
  private final @Nullable Supplier<Terminal.Size> size;
  private List<String> shown = List.of();

  /**
   * @param size of the terminal; null: it is none
   */
  WatchScreen(PrintStream out, @Nullable Supplier<Terminal.Size> size) {
    this.out = out;
    this.size = size;
  }

  static WatchScreen ofOutput() {
    return new WatchScreen(System.out, Terminal.isOutput() ? Terminal::size : null);
  }

  boolean isTerminal() {
    return size != null;
  }

  /** Whether nobody reads any more what is shown. */
  boolean isClosed() {
    return out.checkError();
  }

  void show(List<String> lines) {
    if (size != null) {
      List<String> visible = visible(lines, size.get());
      replace(visible);
      shown = visible;
    } else if (!lines.equals(shown)) {
      if (shown.size() > 1 || (lines.size() > 1 && !shown.isEmpty())) {
        out.println();
      }
      lines.forEach(out::println);
      shown = List.copyOf(lines);
    }
    out.flush();
  }

  /** For a script: a line, whatever was there before. */
  void print(String line) {
    out.println(line);
  }

  private void replace(List<String> lines) {
    if (!shown.isEmpty()) {
      out.print("\u001b[" + shown.size() + "A");
    }
    lines.forEach(line -> out.print("\r" + line + "\u001b[K\n"));
    out.print("\u001b[J");
  }

  /** What scrolls away, or goes on in a second line, could not be replaced. */
  private static List<String> visible(List<String> lines, Terminal.Size size) {
    int most = size.lines() - 1;
    List<String> first = lines;
    if (lines.size() > most) {
      first = new ArrayList<>(lines.subList(0, most - 1));
      first.add("… " + (lines.size() - most + 1) + " more lines");
    }
    return first.stream()
        .map(line -> line.length() < size.columns() ? line : line.substring(0, size.columns() - 1))
        .toList();
  }
}
