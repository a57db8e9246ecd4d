package dev.ashlar.server.cli;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;

/**
 * Ends this process when its standard input does: so it goes with the one that started it, also if
 * that was killed and could tell nobody.
 */
final class EndOfInput {
  /** Set for processes that are to do so. */
  static final String PROPERTY = "ashlar.end-with-input";

  private EndOfInput() {}

  /** Watches from now on, if it is wanted. */
  static void watch() {
    if (Boolean.getBoolean(PROPERTY)) {
      Thread.ofPlatform().daemon().name("end-of-input").start(() -> await(System.in));
    }
  }

  private static void await(InputStream in) {
    try {
      in.transferTo(OutputStream.nullOutputStream());
    } catch (IOException e) {
      // A broken pipe is an end too.
    }
    System.exit(0);
  }
}
