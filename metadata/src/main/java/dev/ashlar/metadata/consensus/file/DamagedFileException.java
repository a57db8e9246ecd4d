package dev.ashlar.metadata.consensus.file;

import java.io.IOException;

/** A file is missing, or its content is not what was written. */
public final class DamagedFileException extends IOException {
  private static final long serialVersionUID = 1;

  public DamagedFileException(String message) {
    super(message);
  }
}
