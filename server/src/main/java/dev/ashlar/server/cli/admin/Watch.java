package dev.ashlar.server.cli.admin;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.List;

/**
 * Polls a page of a management port and shows it, until it is done or nobody reads the output.
 * Programs get each answer as one line of JSON.
 */
final class Watch {
  private final RetryingPoller poller;
  private final WatchScreen screen;
  private final Outage outage;
  private final boolean isJson;
  private final ObjectMapper json = new ObjectMapper();

  /** How a page looks to people. */
  interface View {
    /**
     * Takes an answer.
     *
     * @return whether it differs from the one before in more than the passing of time
     */
    boolean update(JsonNode page);

    /**
     * The latest answer.
     *
     * @param failure why there is no newer one; empty if it is current
     */
    List<String> lines(String failure);

    /** Whether the latest answer ends the watch. */
    default boolean isDone() {
      return false;
    }

    /** Printed at the end; empty for nothing. */
    default String end() {
      return "";
    }
  }

  Watch(RetryingPoller poller, WatchScreen screen, Outage outage, boolean isJson) {
    this.poller = poller;
    this.screen = screen;
    this.outage = outage;
    this.isJson = isJson;
  }

  /**
   * Returns when the view is done or the output is closed.
   *
   * @throws IOException if the poller gives up
   */
  void run(View view) throws IOException, InterruptedException {
    while (!screen.isClosed()) {
      String body = poller.once();
      if (body == null) {
        showFailure(view);
      } else {
        outage.answered();
        show(view, body);
        if (view.isDone()) {
          break;
        }
      }
      poller.pause();
    }
    if (view.isDone() && !isJson && !view.end().isEmpty()) {
      screen.print(view.end());
    }
  }

  private void show(View view, String body) throws IOException {
    boolean hasChanged = view.update(json.readTree(body));
    if (isJson) {
      screen.print(body);
    } else if (screen.isTerminal() || hasChanged) {
      screen.show(view.lines(""));
    }
  }

  private void showFailure(View view) {
    if (isJson || !screen.isTerminal()) {
      outage.failed(poller.failure());
    } else {
      screen.show(view.lines(poller.failure()));
    }
  }
}
