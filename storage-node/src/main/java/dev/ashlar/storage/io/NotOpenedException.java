package dev.ashlar.storage.io;

import java.io.IOException;

/** A file that is needed could not be opened: nothing was read or written. */
public class NotOpenedException extends IOException {
  private static final long serialVersionUID = 1;

  public NotOpenedException(String message) {
    super(message);
  }

  NotOpenedException(String message, IOException cause) {
    super(message, cause);
  }

  /** The same, or that this file could not be opened. */
  static NotOpenedException of(String name, IOException e) {
    return e instanceof NotOpenedException same
        ? same
        : new NotOpenedException(name + " cannot be opened: " + e, e);
  }
}
