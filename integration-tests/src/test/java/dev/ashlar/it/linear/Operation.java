package dev.ashlar.it.linear;

import org.jspecify.annotations.Nullable;

/**
 * What a client did.
 *
 * @param output what it was answered; null if it never was: then it happened at some time after its
 *     call, or never
 * @param calledAt before it was sent, on a clock that all clients share
 * @param returnedAt after it was answered; of no meaning without an output
 */
record Operation<I, O>(I input, @Nullable O output, long calledAt, long returnedAt) {
  Operation {
    if (output != null && returnedAt < calledAt) {
      throw new IllegalArgumentException("returned before it was called");
    }
  }

  @Override
  public String toString() {
    return calledAt + ".." + (output == null ? "?" : returnedAt) + " " + input + " -> " + output;
  }
}
