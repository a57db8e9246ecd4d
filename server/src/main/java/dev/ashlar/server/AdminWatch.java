package dev.ashlar.server;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.PrintStream;
import java.time.Duration;

/** {@code --watch} of repair and of what is moved: a bar until nothing is left. */
final class AdminWatch {
  /** From one look to the next. */
  static final Duration LOOK = Duration.ofSeconds(1);

  private final PatientLooks looks;
  private final PrintStream out;
  private final boolean isJson;
  private final Duration pause;
  private final ObjectMapper json = new ObjectMapper();

  /**
   * @param looks at the page {@code repair} or {@code rebalance}
   * @param pause from one look to the next
   */
  AdminWatch(PatientLooks looks, PrintStream out, boolean isJson, Duration pause) {
    this.looks = looks;
    this.out = out;
    this.isJson = isJson;
    this.pause = pause;
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

  /** Until nothing is left, or, while something is paused, for as long as somebody looks. */
  void run() throws IOException, InterruptedException {
    Progress progress = new Progress(System.nanoTime());
    while (true) {
      String body = looks.next();
      Left left = Left.of(json.readTree(body));
      progress.add(System.nanoTime(), left.bytes(), left.isAll());
      if (isJson) {
        out.println(body);
      } else {
        out.print("\r" + progress.line(left.blobs(), left.isAll(), left.isPaused()) + "\u001b[K");
        out.flush();
      }
      if (left.isNothing()) {
        break;
      }
      Thread.sleep(pause);
    }
    if (!isJson) {
      out.println();
      out.println("Nothing is left to be done.");
    }
  }
}
