package dev.ashlar.transport.frame;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Data on its way out, sent from the memory it lies in, in pieces. Used on the event loop of the
 * connection it is sent on.
 */
public final class OutgoingData {
  private final List<ByteBuffer> parts;
  private final Runnable whenReleased;
  private int part;
  private int left;
  // Pieces that the channel still refers to, and one for what is not handed to it yet.
  private int pins = 1;

  /**
   * @param parts which follow each other; direct memory, must not change until it is released
   * @param whenReleased told once when nothing refers to the memory any more, sent or not
   */
  public OutgoingData(List<ByteBuffer> parts, Runnable whenReleased) {
    this.parts = parts;
    this.whenReleased = whenReleased;
    for (ByteBuffer each : parts) {
      left += each.remaining();
    }
  }

  int left() {
    return left;
  }

  /** The next so many bytes, or fewer, each piece of which has to be {@link #unpin}ned. */
  List<ByteBuffer> take(int bytesMax) {
    List<ByteBuffer> pieces = new ArrayList<>(1);
    int room = Math.min(bytesMax, left);
    left -= room;
    while (room > 0) {
      ByteBuffer current = parts.get(part);
      int count = Math.min(room, current.remaining());
      pieces.add(current.slice(current.position(), count));
      current.position(current.position() + count);
      if (!current.hasRemaining()) {
        part++;
      }
      room -= count;
    }
    pins += pieces.size();
    return pieces;
  }

  /** All is handed out, or nothing more will be. */
  void end() {
    left = 0;
    unpin();
  }

  void unpin() {
    if (--pins == 0) {
      whenReleased.run();
    }
  }
}
