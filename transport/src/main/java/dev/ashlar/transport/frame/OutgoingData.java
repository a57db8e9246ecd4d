package dev.ashlar.transport.frame;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** Data to be sent in pieces, without a copy. Used on its connection's event loop. */
public final class OutgoingData {
  private final List<ByteBuffer> parts;
  private final Runnable whenReleased;
  private int part;
  private int left;
  // One per piece that the channel refers to, and one for the data not yet handed to it.
  private int pins = 1;

  /**
   * @param parts in order; direct memory that must not change until it is released
   * @param whenReleased called once when nothing refers to the memory any more, sent or not
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

  /** Takes up to so many bytes; {@link #unpin} must be called for each piece. */
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

  /** All pieces were taken, or no more will be. */
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
