package dev.ashlar.bench.versus;

/** Something the person at the terminal has to know; the message says it all. */
final class VersusException extends RuntimeException {
  private static final long serialVersionUID = 1;

  VersusException(String message) {
    super(message);
  }
}
