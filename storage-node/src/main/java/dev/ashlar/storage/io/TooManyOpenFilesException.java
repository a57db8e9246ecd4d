package dev.ashlar.storage.io;

import java.io.IOException;

/**
 * The process, or the system, has as many files open as it may. That says nothing of the drive, and
 * passes.
 */
public final class TooManyOpenFilesException extends FileNotOpenedException {
  private static final long serialVersionUID = 1;

  public TooManyOpenFilesException(String message) {
    super(message);
  }

  TooManyOpenFilesException(IOException cause) {
    super(String.valueOf(cause.getMessage()), cause);
  }

  /** The same, or what it means if it says that no file can be opened. */
  static IOException orSame(IOException e) {
    boolean isThat = String.valueOf(e.getMessage()).contains("Too many open files");
    return isThat ? new TooManyOpenFilesException(e) : e;
  }
}
