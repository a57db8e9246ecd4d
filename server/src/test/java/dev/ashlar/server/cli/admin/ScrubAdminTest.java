package dev.ashlar.server.cli.admin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.server.admin.ScrubPage;
import dev.ashlar.server.config.PortAddress;
import dev.ashlar.storage.drive.scrub.ScrubProgress;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class ScrubAdminTest {
  private static final long MIB = 1 << 20;
  private static final PortAddress ONE = PortAddress.parse("one:9001");
  private static final PortAddress OTHER = PortAddress.parse("other:9001");

  private static final ScrubPage NO_ANSWER = new ScrubPage(List.of());
  private static final ScrubPage REFUSAL = page(progress(false, 99, 99, 99, 99), 99);

  private final List<String> asked = new ArrayList<>();
  private final Deque<ScrubPage> pages = new ArrayDeque<>();
  private final ByteArrayOutputStream shown = new ByteArrayOutputStream();

  private static ScrubProgress progress(
      boolean isRunning, long startedMs, long finishedMs, long done, long left) {
    DriveId drive = new DriveId(new UUID(0, 1), 1);
    return new ScrubProgress(
        drive, isRunning, startedMs, finishedMs, done, left, done * 64 * MIB, done / 3, 0);
  }

  private static ScrubPage page(ScrubProgress deep, long nowMs) {
    return new ScrubPage(List.of(ScrubPage.Drive.of(new UUID(0, 1), deep, null, nowMs)));
  }

  /** What each look finds, the last one for ever; null: no answer. */
  private String run(
      boolean isStarting, boolean isWatching, boolean isJson, PortAddress... processes)
      throws Exception {
    ObjectMapper json = new ObjectMapper();
    try (PrintStream out = new PrintStream(shown, true, StandardCharsets.UTF_8)) {
      new ScrubAdmin(
              (management, method, path) -> {
                asked.add(method + " " + management + path);
                ScrubPage page = pages.size() > 1 ? pages.remove() : pages.element();
                if (page.equals(NO_ANSWER)) {
                  throw new IOException(management + " does not answer: timeout");
                }
                if (page.equals(REFUSAL)) {
                  throw new IOException("the root credentials are needed");
                }
                return json.writeValueAsString(page);
              },
              List.of(processes),
              new WatchScreen(out, null),
              isJson,
              Duration.ZERO)
          .run(isStarting, isWatching);
    }
    return shown.toString(StandardCharsets.UTF_8);
  }

  @Test
  void theRateIsThatOfThePassAndTimeIsLeftInProportion() {
    ScrubPage.Drive drive = page(progress(true, 1_000, 0, 5, 15), 21_000).drives().getFirst();
    assertEquals(25, drive.percent());
    assertEquals(16 * MIB, drive.bytesPerSecond());
    assertEquals(60, drive.secondsLeft());
    ScrubPage.Drive first = page(progress(true, 1_000, 0, 0, 20), 2_000).drives().getFirst();
    assertNull(first.secondsLeft());
    assertEquals(0, page(progress(false, 0, 0, 0, 0), 5).drives().getFirst().percent());
    assertEquals(100, page(progress(false, 1, 3, 9, 0), 5).drives().getFirst().percent());
  }

  @Test
  void aDriveAtWorkHasABarItsRateAndTheTimeLeft() throws Exception {
    pages.add(page(progress(true, 1_000, 0, 5, 15), 21_000));
    assertEquals(
        "DRIVE     PROGRESS                      STATE                        VERIFIED  DAMAGED\n"
            + "00000000  [#####---------------]  25 %  16.0 MiB/s, 1 min 0 s left  320.0 MiB"
            + "  1 block\n",
        run(false, false, false, ONE));
    assertEquals(List.of("GET one:9001/scrub"), asked);
  }

  @Test
  void drivesOfSeveralProcessesAreShownTogether() throws Exception {
    pages.add(page(progress(false, 1_000, 2_000, 1, 0), 21_000));
    String json = run(false, false, true, ONE, OTHER);
    assertEquals(2, json.split("\"segmentsDone\"", -1).length - 1, json);
    assertEquals(List.of("GET one:9001/scrub", "GET other:9001/scrub"), asked);
  }

  @Test
  void watchingAStartGoesOnUntilThatPassHasEnded() throws Exception {
    pages.add(page(progress(false, 1_000, 2_000, 1, 0), 9_000)); // before
    pages.add(page(progress(true, 9_000, 2_000, 0, 2), 9_000)); // the answer
    pages.add(page(progress(true, 9_000, 2_000, 1, 1), 9_500));
    pages.add(page(progress(false, 9_000, 9_900, 2, 0), 9_900));
    String text = run(true, true, false, ONE);
    assertEquals(
        List.of(
            "GET one:9001/scrub",
            "POST one:9001/scrub",
            "GET one:9001/scrub",
            "GET one:9001/scrub"),
        asked);
    assertTrue(text.contains("finished 1970-01-01T00:00:09Z  128.0 MiB"), text);
  }

  @Test
  void whatIsAskedToStartIsWaitedFor() throws Exception {
    ScrubPage before = page(progress(false, 1_000, 2_000, 1, 0), 9_000);
    pages.addAll(List.of(before, before, before)); // it has not begun yet
    pages.add(page(progress(false, 9_000, 9_900, 2, 0), 9_900));
    run(true, true, true, ONE);
    assertEquals(4, asked.size());
  }

  @Test
  void aProcessThatIsAwayForAWhileIsNamedAndWaitedFor() throws Exception {
    ScrubPage running = page(progress(true, 9_000, 2_000, 1, 1), 9_500);
    ScrubPage done = page(progress(false, 9_000, 9_900, 2, 0), 9_900);
    pages.addAll(List.of(running, done)); // of one and the other
    pages.addAll(List.of(NO_ANSWER, done));
    pages.addAll(List.of(NO_ANSWER, done));
    pages.addAll(List.of(done, NO_ANSWER)); // whether that is done is not known now
    pages.add(done);
    String text = run(false, true, false, ONE, OTHER);
    assertEquals(10, asked.size(), asked::toString);
    String away = "  50 %";
    int named = text.indexOf("  no answer since: one:9001 does not answer: timeout\n");
    assertTrue(text.startsWith("one:9001:\n"), text);
    assertTrue(text.substring(0, named).contains(away), "it is as it was last: " + text);
    assertTrue(text.contains("  no answer since: other:9001 does not answer: timeout\n"), text);
    assertEquals(
        2, text.split("no answer since", -1).length - 1, "what has not changed is not shown again");
  }

  @Test
  void scriptsSeeWhoIsSilent() throws Exception {
    pages.add(page(progress(true, 9_000, 2_000, 1, 1), 9_500));
    pages.add(NO_ANSWER);
    pages.add(page(progress(false, 9_000, 9_900, 2, 0), 9_900));
    String[] lines = run(false, true, true, ONE).split("\n", -1);
    assertTrue(lines[0].endsWith("\"process\":\"one:9001\"}],\"silent\":{}}"), lines[0]);
    assertTrue(
        lines[1].endsWith("\"silent\":{\"one:9001\":\"one:9001 does not answer: timeout\"}}"),
        lines[1]);
  }

  @Test
  void whoIsAwayForLongIsGivenUp() {
    pages.add(page(progress(true, 9_000, 2_000, 1, 1), 9_500));
    pages.add(NO_ANSWER);
    IOException end = assertThrows(IOException.class, () -> run(false, true, false, ONE));
    assertEquals("one:9001 does not answer: timeout", end.getMessage());
    assertEquals(1 + RetryingPoller.FAILED_MAX, asked.size());
  }

  @Test
  void whoRefusesIsNamed() {
    pages.add(page(progress(false, 1_000, 2_000, 1, 0), 9_000));
    pages.add(REFUSAL);
    IOException end = assertThrows(IOException.class, () -> run(false, true, false, ONE, OTHER));
    assertEquals("other:9001: the root credentials are needed", end.getMessage());
  }
}
