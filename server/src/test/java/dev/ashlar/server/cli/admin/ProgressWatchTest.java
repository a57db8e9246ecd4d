package dev.ashlar.server.cli.admin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

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

class ProgressWatchTest {
  private static final String NO_ANSWER = "";
  private static final String DONE = rebalance(true, 0, "", "");

  private final Deque<String> pages = new ArrayDeque<>();
  private final ByteArrayOutputStream shown = new ByteArrayOutputStream();
  private final ByteArrayOutputStream told = new ByteArrayOutputStream();

  private static String rebalance(boolean isKnown, long blobs, String draining, String coming) {
    return ("{\"paused\":false,\"known\":%s,\"blobs\":%d,\"bytes\":%d,"
            + "\"draining\":[%s],\"drained\":[],\"coming\":[%s]}")
        .formatted(isKnown, blobs, blobs << 10, draining, coming);
  }

  private String next() throws IOException {
    String page = pages.remove();
    if (page.equals(NO_ANSWER)) {
      throw new IOException("metadata: no leader");
    }
    return page;
  }

  private String watch(boolean hasAnswered, boolean isJson) throws Exception {
    return watch(hasAnswered, isJson, null);
  }

  private String watch(boolean hasAnswered, boolean isJson, Terminal.@Nullable Size terminal)
      throws Exception {
    try (PrintStream out = new PrintStream(shown, true, StandardCharsets.UTF_8);
        PrintStream errors = new PrintStream(told, true, StandardCharsets.UTF_8)) {
      RetryingPoller looks =
          new RetryingPoller(this::next, Duration.ZERO, RetryingPoller.FAILED_MAX, hasAnswered);
      WatchScreen screen = new WatchScreen(out, terminal == null ? null : () -> terminal);
      new Watch(looks, screen, errors, isJson).run(new Progress(System.nanoTime()));
    }
    return shown.toString(StandardCharsets.UTF_8);
  }

  @Test
  void itEndsWhenAllThatIsKnownIsDone() throws Exception {
    pages.addAll(List.of(rebalance(true, 2, "", ""), rebalance(false, 0, "", ""), DONE, "behind"));
    String text = watch(false, false);
    assertEquals(List.of("behind"), List.copyOf(pages));
    assertTrue(text.contains("2 blobs, 2.0 KiB left"), text);
    assertTrue(text.endsWith("Nothing is left to be done.\n"), text);
  }

  @Test
  void anElectionIsNoEnd() throws Exception {
    pages.add(rebalance(true, 2, "", ""));
    pages.addAll(Collections.nCopies(RetryingPoller.FAILED_MAX - 1, NO_ANSWER));
    pages.add(rebalance(true, 1, "", ""));
    pages.add(NO_ANSWER);
    pages.add(DONE);
    watch(false, true);
    assertEquals(0, pages.size());
    String once = "ashlar: metadata: no leader; still looking\nashlar: answers again\n";
    assertEquals(once + once, told.toString(StandardCharsets.UTF_8));
  }

  @Test
  void inATerminalTheBarStaysWhileNobodyAnswers() throws Exception {
    pages.addAll(List.of(rebalance(true, 2, "", ""), NO_ANSWER, DONE));
    String text = watch(false, false, new Terminal.Size(24, 120));
    assertTrue(text.contains("2 blobs, 2.0 KiB left    metadata: no leader\u001b[K\n"), text);
    assertEquals(
        2, text.split("\u001b\\[1A", -1).length - 1, "each in the place of the one before");
    assertEquals("", told.toString(StandardCharsets.UTF_8));
  }

  @Test
  void whoDoesNotAnswerForLongIsGivenUp() {
    pages.add(DONE.replace("true", "false"));
    pages.addAll(Collections.nCopies(RetryingPoller.FAILED_MAX, NO_ANSWER));
    assertThrows(IOException.class, () -> watch(false, true));
    assertEquals(0, pages.size());
  }

  @Test
  void whoHasNotAnsweredYetIsGivenUpAtOnce() throws Exception {
    pages.addAll(List.of(NO_ANSWER, DONE));
    assertThrows(IOException.class, () -> watch(false, true));
    pages.addFirst(NO_ANSWER);
    watch(true, true); // it has answered to the command that is watched
    assertEquals(0, pages.size());
  }

  @Test
  void aDrainIsNotDoneBetweenTwoEpochs() throws Exception {
    pages.add(rebalance(true, 0, "\"d1\"", ""));
    pages.add(rebalance(true, 5, "\"d1\"", ""));
    pages.add(DONE);
    String text = watch(true, false);
    assertEquals(0, pages.size());
    assertTrue(text.startsWith(Progress.bar(0, 30) + "   0 %  0 blobs"), text);
  }

  @Test
  void whatGetsItsShareInSomeSecondsIsNotDone() throws Exception {
    pages.addAll(List.of(rebalance(true, 0, "", "\"d9\""), DONE));
    watch(false, true);
    assertEquals(0, pages.size());
  }

  @Test
  void repairHasFieldsOfItsOwn() throws Exception {
    String page =
        "{\"known\":true,\"debtBlobs\":%d,\"debtBytes\":%d,\"movingBlobs\":7,\"levels\":[]}";
    pages.addAll(List.of(page.formatted(3, 3 << 10), page.formatted(0, 0)));
    String text = watch(false, false);
    assertEquals(0, pages.size());
    assertTrue(text.contains("3 blobs, 3.0 KiB left"), text);
  }
}
