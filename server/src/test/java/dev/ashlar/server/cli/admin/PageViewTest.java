package dev.ashlar.server.cli.admin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.ashlar.protocol.client.ManualClock;
import dev.ashlar.server.cli.Terminal;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class PageViewTest {
  private static final String NO_ANSWER = "";
  private static final Terminal.Size TERMINAL = new Terminal.Size(24, 80);

  private final Deque<String> pages = new ArrayDeque<>();
  private final ByteArrayOutputStream shown = new ByteArrayOutputStream();
  private final ByteArrayOutputStream told = new ByteArrayOutputStream();
  private final ManualClock clock = new ManualClock(1_000_000);

  private static String nodes(boolean isUp, long silentMs) {
    return "[{\"name\":\"n1\",\"up\":%s,\"silentMs\":%d}]".formatted(isUp, silentMs);
  }

  private static String drives(long usedBytes) {
    return "[{\"id\":\"d1\",\"usedBytes\":%d,\"usedPercent\":null,\"up\":true,\"counted\":true}]"
        .formatted(usedBytes);
  }

  /** Time goes by; whoever looks ends it after the last page. */
  private String next() throws IOException, InterruptedException {
    clock.advanceMs(2_000);
    String page = pages.poll();
    if (page == null) {
      throw new InterruptedException();
    }
    if (page.equals(NO_ANSWER)) {
      throw new IOException("metadata: no leader");
    }
    return page;
  }

  private PageView view(String page) {
    Rates rates = new Rates();
    return new PageView("it", clock, rates, PageText.of(page, rates));
  }

  private String watch(String page, boolean isJson, Terminal.@Nullable Size terminal) {
    try (PrintStream out = new PrintStream(shown, true, StandardCharsets.UTF_8);
        PrintStream errors = new PrintStream(told, true, StandardCharsets.UTF_8)) {
      RetryingPoller looks =
          new RetryingPoller(this::next, Duration.ZERO, RetryingPoller.FAILED_ANY, false);
      WatchScreen screen = new WatchScreen(out, terminal == null ? null : () -> terminal);
      Watch watch = new Watch(looks, screen, errors, isJson);
      assertThrows(InterruptedException.class, () -> watch.run(view(page)));
    }
    return shown.toString(StandardCharsets.UTF_8);
  }

  @Test
  void aFileGetsWhatHasChanged() {
    pages.addAll(List.of(nodes(true, 100), nodes(true, 2_100), nodes(false, 16_000)));
    pages.addAll(List.of(nodes(false, 18_000), nodes(true, 50)));
    assertEquals(
        """
        it at 1970-01-01T00:16:42Z
        NODE  STATE  LAST SEEN  ROLE
        n1    up           0 s  storage

        it at 1970-01-01T00:16:46Z
        NODE  STATE  LAST SEEN  ROLE
        n1    down        16 s  storage

        it at 1970-01-01T00:16:50Z
        NODE  STATE  LAST SEEN  ROLE
        n1    up           0 s  storage
        """,
        watch("nodes", false, null));
  }

  @Test
  void aTerminalShowsEachLookInThePlaceOfTheOneBefore() {
    pages.addAll(List.of(nodes(true, 100), nodes(true, 2_100)));
    assertEquals(
        "\rit at 1970-01-01T00:16:42Z\u001b[K\n"
            + "\rNODE  STATE  LAST SEEN  ROLE\u001b[K\n"
            + "\rn1    up           0 s  storage\u001b[K\n"
            + "\u001b[J"
            + "\u001b[3A"
            + "\rit at 1970-01-01T00:16:44Z\u001b[K\n"
            + "\rNODE  STATE  LAST SEEN  ROLE\u001b[K\n"
            + "\rn1    up           2 s  storage\u001b[K\n"
            + "\u001b[J",
        watch("nodes", false, TERMINAL));
  }

  @Test
  void bytesThatRiseOrFallHaveTheirRate() {
    pages.addAll(List.of(drives(10 << 20), drives(14 << 20), drives(8 << 20), drives(8 << 20)));
    pages.addAll(Collections.nCopies(20, drives(8 << 20)));
    pages.add(drives(0));
    String text = watch("drives", false, null);
    String[] lines = text.split("\n", -1);
    assertEquals("d1     10.0 MiB        -", lines[2]);
    assertEquals("d1     14.0 MiB +2.0 MiB/s        -", lines[6]);
    assertEquals("d1     8.0 MiB -512.0 KiB/s        -", lines[10]);
    assertEquals("d1     0 B -273.1 KiB/s        -", lines[14], "over the last half minute");
  }

  @Test
  void scriptsGetALinePerLook() {
    pages.addAll(List.of(drives(1), drives(1), NO_ANSWER, NO_ANSWER, drives(2)));
    assertEquals(
        drives(1) + "\n" + drives(1) + "\n" + drives(2) + "\n", watch("drives", true, null));
    assertEquals(
        "ashlar: metadata: no leader; still looking\nashlar: answers again\n",
        told.toString(StandardCharsets.UTF_8));
  }

  @Test
  void itGoesOnHoweverLongNobodyAnswers() {
    pages.add(drives(1));
    pages.addAll(Collections.nCopies(10 * RetryingPoller.FAILED_MAX, NO_ANSWER));
    pages.add(drives(2));
    watch("drives", true, null);
    assertEquals(0, pages.size());
  }

  @Test
  void aTerminalKeepsWhatWasSeenLast() {
    pages.addAll(List.of(drives(1 << 10), NO_ANSWER));
    String text = watch("drives", false, TERMINAL);
    assertEquals(
        """
        \rit at 1970-01-01T00:16:42Z, no answer since: metadata: no leader\u001b[K
        \rDRIVE     USED  TO MOVE\u001b[K
        \rd1     1.0 KiB        -\u001b[K
        \u001b[J""",
        text.substring(text.indexOf("\u001b[3A") + 4));
    assertEquals("", told.toString(StandardCharsets.UTF_8));
  }

  @Test
  void itEndsWhereNobodyWasEverReached() {
    pages.add(NO_ANSWER);
    RetryingPoller looks =
        new RetryingPoller(this::next, Duration.ZERO, RetryingPoller.FAILED_ANY, false);
    PrintStream nowhere = new PrintStream(shown, true, StandardCharsets.UTF_8);
    Watch watch = new Watch(looks, new WatchScreen(nowhere, null), nowhere, false);
    IOException end = assertThrows(IOException.class, () -> watch.run(view("drives")));
    assertEquals("metadata: no leader", end.getMessage());
  }

  @Test
  void itEndsWhenNobodyReadsItAnyMore() throws Exception {
    pages.addAll(List.of(drives(1), drives(2), drives(3)));
    PrintStream closed =
        new PrintStream(shown, true, StandardCharsets.UTF_8) {
          @Override
          public boolean checkError() {
            return shown.size() > 0; // as after: | head -n 1
          }
        };
    RetryingPoller looks =
        new RetryingPoller(this::next, Duration.ZERO, RetryingPoller.FAILED_ANY, false);
    new Watch(looks, new WatchScreen(closed, null), closed, true).run(view("drives"));
    assertEquals(2, pages.size());
  }
}
