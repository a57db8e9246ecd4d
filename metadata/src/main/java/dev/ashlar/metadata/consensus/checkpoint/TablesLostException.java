package dev.ashlar.metadata.consensus.checkpoint;

import java.io.IOException;

/** Tables are damaged, and so is, or is missing, all that they could be made from. */
final class TablesLostException extends IOException {
  private static final long serialVersionUID = 1;

  TablesLostException(String message) {
    super(message);
  }
}
