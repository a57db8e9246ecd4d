package dev.ashlar.server.cli.admin;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;

/** The pages {@code repair} and {@code rebalance} as a progress bar, until nothing is left. */
final class ProgressView implements Watch.View {
  private final Progress progress = new Progress(System.nanoTime());
  private String line = "";
  private boolean isDone;

  @Override
  public boolean update(JsonNode page) {
    boolean isRepair = page.has("owingBlobs");
    long blobs = page.path(isRepair ? "owingBlobs" : "blobs").asLong();
    long bytes = page.path(isRepair ? "owingBytes" : "bytes").asLong();
    // A large drain takes several epochs. Between two of them nothing may be left to move.
    boolean isBetweenEpochs = blobs == 0 && !page.path("draining").isEmpty();
    boolean isComplete =
        page.path("known").asBoolean() && page.path("coming").isEmpty() && !isBetweenEpochs;
    progress.add(System.nanoTime(), bytes, isComplete);
    line = progress.line(blobs, isComplete, page.path("paused").asBoolean());
    isDone = isComplete && blobs == 0;
    return true;
  }

  @Override
  public List<String> lines(String failure) {
    return List.of(failure.isEmpty() ? line : line + "  " + failure);
  }

  @Override
  public boolean isDone() {
    return isDone;
  }

  @Override
  public String end() {
    return "Nothing is left to be done.";
  }
}
