package dev.ashlar.server.cli.admin;

import java.io.PrintStream;

/**
 * Tells on the standard error, once each, that something that is watched does not answer, and that
 * it does again: what is watched goes to the standard output, maybe into a file or to a script.
 */
final class Outage {
  private final PrintStream errors;
  private boolean isOne;

  Outage(PrintStream errors) {
    this.errors = errors;
  }

  void failed(String why) {
    if (!isOne) {
      errors.println("ashlar: " + why + "; still looking");
      isOne = true;
    }
  }

  void answered() {
    if (isOne) {
      errors.println("ashlar: answers again");
      isOne = false;
    }
  }
}
