package dev.ashlar.metadata.consensus.checkpoint;

import java.io.IOException;

/** A second copy would take room that the peer itself needs. */
final class NoRoomException extends IOException {
  private static final long serialVersionUID = 1;

  NoRoomException(String message) {
    super(message);
  }
}
