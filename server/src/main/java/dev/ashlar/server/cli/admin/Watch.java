package dev.ashlar.server.cli.admin;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.PrintStream;
import java.util.List;

/**
 * Polls a page of a management port and shows it, until it is done or nobody reads the output.
 * Programs get each answer as one line of JSON.
 */
final class Watch {
  private final RetryingPoller poller;
  private final WatchScreen screen;
  private final PrintStream errors;
  private final boolean isJson;
  private final ObjectMapper json = new ObjectMapper();
  private boolean isSilent;

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

  /**
   * @param errors hears, once each, that there is no answer and that there is one again: what is
   *     watched goes to the standard output, maybe into a file or to a script
   */
  Watch(RetryingPoller poller, WatchScreen screen, PrintStream errors, boolean isJson) {
    this.poller = poller;
    this.screen = screen;
    this.errors = errors;
    this.isJson = isJson;
  }

  /**
   * Returns when the view is done or the output is closed.
   *
   * @throws IOException if the poller gives up
   */
  void run(View view) throws IOException, InterruptedException {
    while (!screen.isClosed()) {
      String body = poller.poll();
      if (body == null) {
        showFailure(view);
      } else {
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
    if (isSilent) {
      errors.println("ashlar: answers again");
      isSilent = false;
    }
    boolean hasChanged = view.update(json.readTree(body));
    if (isJson) {
      screen.print(body);
    } else if (screen.isTerminal() || hasChanged) {
      screen.show(view.lines(""));
    }
  }

  private void showFailure(View view) {
    if (!isJson && screen.isTerminal()) {
      screen.show(view.lines(poller.failure()));
    } else if (!isSilent) {
      errors.println("ashlar: " + poller.failure() + "; still looking");
      isSilent = true;
    }
  }
}
