package dev.ashlar.gateway.access.policy.document;

import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * The place of a value in a document. It is a chain to the root and becomes text only in an error
 * message: a document with long names and many values would otherwise need quadratic memory.
 *
 * @param parent null for the root
 * @param step the name of a member, or the index in a list as {@code [3]}
 */
record Location(@Nullable Location parent, String step) {
  private static final int STEP_CHARACTERS_MAX = 64;

  static final Location ROOT = new Location(null, "");

  Location member(String name) {
    return new Location(this, name);
  }

  Location item(int index) {
    return new Location(this, "[" + index + "]");
  }

  @Override
  public String toString() {
    Deque<String> steps = new ArrayDeque<>();
    for (Location at = this; at != null && at.parent != null; at = at.parent) {
      steps.push(Quoted.shorten(at.step, STEP_CHARACTERS_MAX));
    }
    StringBuilder text = new StringBuilder();
    for (String step : steps) {
      text.append(text.isEmpty() || step.startsWith("[") ? "" : ".").append(step);
    }
    return text.isEmpty() ? "document" : text.toString();
  }
}
