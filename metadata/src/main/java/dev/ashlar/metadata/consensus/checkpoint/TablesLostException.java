package dev.ashlar.metadata.consensus.checkpoint;

import java.io.IOException;

/** Tables are damaged, and everything they could be rebuilt from is damaged or missing. */
final class TablesLostException extends IOException {
  private static final long serialVersionUID = 1;

  TablesLostException(String message) {
    super(message);
  }
}
