package dev.ashlar.metadata.consensus;

import java.io.IOException;

/** Tables are damaged, and nothing that is in their folder makes them whole again now. */
final class TablesLostException extends IOException {
  private static final long serialVersionUID = 1;

  TablesLostException(String message) {
    super(message);
  }
}
