package dev.ashlar.bench.process;

/** A benchmark cannot run as it was asked to. The message tells the person at the terminal all. */
public final class BenchException extends RuntimeException {
  private static final long serialVersionUID = 1;

  public BenchException(String message) {
    super(message);
  }

  public BenchException(String message, Throwable cause) {
    super(message, cause);
  }
}
