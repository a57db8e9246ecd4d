package dev.ashlar.metadata.consensus.file;

import java.io.IOException;

/** What was read is not what was written, or is missing. */
public final class DamagedFileException extends IOException {
  private static final long serialVersionUID = 1;

  public DamagedFileException(String message) {
    super(message);
  }
}
