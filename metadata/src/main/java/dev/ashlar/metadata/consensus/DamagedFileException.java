package dev.ashlar.metadata.consensus;

import java.io.IOException;

/** What was read is not what was written, or is missing. */
final class DamagedFileException extends IOException {
  private static final long serialVersionUID = 1;

  DamagedFileException(String message) {
    super(message);
  }
}
