package dev.ashlar.bench.load;

/** Something the person at the terminal has to know; the message says it all. */
public final class LoadException extends RuntimeException {
  private static final long serialVersionUID = 1;

  public LoadException(String message) {
    super(message);
  }
}
