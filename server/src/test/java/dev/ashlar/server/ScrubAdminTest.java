package dev.ashlar.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.storage.drive.ScrubProgress;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class ScrubAdminTest {
  private static final long MIB = 1 << 20;
  private static final Address ONE = new Address("one", 9001);
  private static final Address OTHER = new Address("other", 9001);

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

  /** What each look finds, the last one for ever. */
  private String run(boolean isStarting, boolean isWatching, boolean isJson, Address... processes)
      throws Exception {
    ObjectMapper json = new ObjectMapper();
    try (PrintStream out = new PrintStream(shown, true, StandardCharsets.UTF_8)) {
      new ScrubAdmin(
              (management, method, path) -> {
                asked.add(method + " " + management + path);
                ScrubPage page = pages.size() > 1 ? pages.remove() : pages.element();
                try {
                  return json.writeValueAsString(page);
                } catch (JsonProcessingException e) {
                  throw new AssertionError(e);
                }
              },
              List.of(processes),
              out,
              isJson)
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
        "00000000-0000-0000-0000-000000000001  [#######-----------------------]  25 %"
            + "  16.0 MiB/s, 1 min 0 s left, 1 damaged blocks\n",
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
    assertTrue(text.contains("read through until 1970-01-01T00:00:09Z, 128.0 MiB"), text);
  }

  @Test
  void whatIsAskedToStartIsWaitedFor() throws Exception {
    ScrubPage before = page(progress(false, 1_000, 2_000, 1, 0), 9_000);
    pages.addAll(List.of(before, before, before)); // it has not begun yet
    pages.add(page(progress(false, 9_000, 9_900, 2, 0), 9_900));
    run(true, true, true, ONE);
    assertEquals(4, asked.size());
  }
}
