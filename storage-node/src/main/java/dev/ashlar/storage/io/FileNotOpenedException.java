package dev.ashlar.storage.io;

import java.io.IOException;

/** A file could not be opened; nothing was read or written. */
public class FileNotOpenedException extends IOException {
  private static final long serialVersionUID = 1;

  public FileNotOpenedException(String message) {
    super(message);
  }

  FileNotOpenedException(String message, IOException cause) {
    super(message, cause);
  }

  /** Converts an exception from opening a file. */
  static FileNotOpenedException of(String name, IOException e) {
    return e instanceof FileNotOpenedException same
        ? same
        : new FileNotOpenedException(name + " cannot be opened: " + e, e);
  }
}
