package dev.ashlar.storage.io;

import java.io.IOException;

/**
 * The limit for open files of the process or the system is reached. This is temporary and says
 * nothing about the drive.
 */
public final class TooManyOpenFilesException extends FileNotOpenedException {
  private static final long serialVersionUID = 1;

  public TooManyOpenFilesException(String message) {
    super(message);
  }

  TooManyOpenFilesException(IOException cause) {
    super(String.valueOf(cause.getMessage()), cause);
  }

  /** Converts an exception that reports too many open files. */
  static IOException orSame(IOException e) {
    boolean isThat = String.valueOf(e.getMessage()).contains("Too many open files");
    return isThat ? new TooManyOpenFilesException(e) : e;
  }
}
