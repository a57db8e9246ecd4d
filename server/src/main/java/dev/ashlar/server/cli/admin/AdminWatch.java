package dev.ashlar.server.cli.admin;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.time.Duration;
import java.util.List;

/** {@code --watch} of repair and of what is moved: a bar until nothing is left. */
final class AdminWatch {
  /** From one look to the next. */
  static final Duration LOOK = Duration.ofSeconds(1);

  private final RetryingPoller looks;
  private final WatchScreen screen;
  private final Outage outage;
  private final boolean isJson;
  private final ObjectMapper json = new ObjectMapper();
  private String line = "";

  /**
   * @param looks at the page {@code repair} or {@code rebalance}
   */
  AdminWatch(RetryingPoller looks, WatchScreen screen, Outage outage, boolean isJson) {
    this.looks = looks;
    this.screen = screen;
    this.outage = outage;
    this.isJson = isJson;
  }

  /**
   * What one look has found.
   *
   * @param isAll whether more cannot come of what is the case now
   */
  private record Left(long blobs, long bytes, boolean isAll, boolean isPaused) {
    static Left of(JsonNode page) {
      boolean isRepair = page.has("owingBlobs");
      long blobs = page.path(isRepair ? "owingBlobs" : "blobs").asLong();
      long bytes = page.path(isRepair ? "owingBytes" : "bytes").asLong();
      // A large drain takes several epochs: after each, what is to be moved may be all moved.
      boolean isBetween = blobs == 0 && !page.path("draining").isEmpty();
      boolean isAll = page.path("known").asBoolean() && page.path("coming").isEmpty() && !isBetween;
      return new Left(blobs, bytes, isAll, page.path("paused").asBoolean());
    }

    boolean isNothing() {
      return isAll && blobs == 0;
    }
  }

  /**
   * Until nothing is left, or, while something is paused, for as long as somebody looks.
   *
   * @throws IOException when that is not known for long
   */
  void run() throws IOException, InterruptedException {
    Progress progress = new Progress(System.nanoTime());
    while (!screen.isClosed()) {
      String body = looks.once();
      if (body == null) {
        unanswered();
      } else if (isNothingLeft(progress, body)) {
        return;
      }
      looks.pause();
    }
  }

  private void unanswered() {
    if (isJson || !screen.isTerminal()) {
      outage.failed(looks.failure());
    } else {
      screen.show(List.of(line + "  " + looks.failure()));
    }
  }

  private boolean isNothingLeft(Progress progress, String body) throws IOException {
    outage.answered();
    Left left = Left.of(json.readTree(body));
    progress.add(System.nanoTime(), left.bytes(), left.isAll());
    if (isJson) {
      screen.print(body);
      return left.isNothing();
    }
    line = progress.line(left.blobs(), left.isAll(), left.isPaused());
    screen.show(List.of(line));
    if (left.isNothing()) {
      screen.print("Nothing is left to be done.");
    }
    return left.isNothing();
  }
}
