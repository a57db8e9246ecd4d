package dev.ashlar.transport.call;

import dev.ashlar.protocol.memory.Slab;
import dev.ashlar.protocol.wire.FrameHeader;
import dev.ashlar.protocol.wire.WireFormatException;
import org.jspecify.annotations.Nullable;

/** Assembles the data of a call or an answer from its frames. */
final class MessageAssembler {
  private final byte @Nullable [] bytes;
  private final int length;
  private int filled;
  private boolean isWhole;

  /**
   * @param isWanted false: the data is counted and discarded
   */
  MessageAssembler(int length, boolean isWanted) {
    this.length = length;
    bytes = isWanted ? new byte[length] : null;
  }

  /** Checks the header of its next frame. */
  void check(FrameHeader header) throws WireFormatException {
    int after = filled + header.dataBytes();
    if (after > length || header.isLast() != (after == length)) {
      throw new WireFormatException(
          header.type() + " with " + after + " of " + length + " bytes, last: " + header.isLast());
    }
  }

  /** Adds the data of a frame, which is in the slab. */
  void add(FrameHeader header, @Nullable Slab slab) {
    int count = header.dataBytes();
    if (bytes != null && slab != null && count > 0) {
      slab.slice(0, count).get(bytes, filled, count);
    }
    filled += count;
    isWhole = header.isLast();
  }

  boolean isWhole() {
    return isWhole;
  }

  boolean isWanted() {
    return bytes != null;
  }

  int length() {
    return length;
  }

  byte[] bytes() {
    return bytes == null ? new byte[0] : bytes;
  }
}
