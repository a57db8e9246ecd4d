package dev.ashlar.storage.io;

import java.io.IOException;

/** The drive has no space for a new file. */
public final class NoSpaceException extends IOException {
  private static final long serialVersionUID = 1;

  public NoSpaceException(String message) {
    super(message);
  }

  public NoSpaceException(String message, Throwable cause) {
    super(message, cause);
  }
}
