package dev.ashlar.blob.move;

/** A version cannot be moved, although its bytes and metadata are available. */
public final class NotMovedException extends Exception {
  private static final long serialVersionUID = 1;

  NotMovedException(String message) {
    super(message);
  }
}
