package dev.ashlar.metadata.consensus.checkpoint;

import java.io.IOException;

/** There is no space for a second copy: the peer itself needs what is left. */
final class NoRoomException extends IOException {
  private static final long serialVersionUID = 1;

  NoRoomException(String message) {
    super(message);
  }
}
