package dev.ashlar.gateway.encryption.frame;

import com.google.protobuf.ByteString;
import dev.ashlar.protocol.layout.FrameLayout;

/**
 * A frame of an encrypted object.
 *
 * @param run the id of its run
 * @param number in its run, from 0
 * @param plainLength 1 to {@link FrameLayout#PLAIN_BYTES}
 * @param plainOffset of its first plain byte in the object
 * @param storedOffset of its first stored byte in the object
 */
public record Frame(
    ByteString run, long number, int plainLength, long plainOffset, long storedOffset) {
  public Frame {
    if (number < 0 || plainLength < 1 || plainLength > FrameLayout.PLAIN_BYTES) {
      throw new IllegalArgumentException("frame " + number + " of " + plainLength + " bytes");
    }
  }

  /** The frame of a new run that has only this run. Its last frame is {@link #cutTo cut}. */
  static Frame ofNewRun(ByteString run, long number) {
    return new Frame(
        run,
        number,
        FrameLayout.PLAIN_BYTES,
        number * FrameLayout.PLAIN_BYTES,
        number * FrameLayout.FRAME_BYTES);
  }

  /** The same frame with fewer plain bytes. */
  Frame cutTo(int length) {
    return new Frame(run, number, length, plainOffset, storedOffset);
  }

  public int storedLength() {
    return FrameLayout.NONCE_BYTES + plainLength + FrameLayout.TAG_BYTES;
  }

  /** Where the plain bytes of the next frame begin. */
  public long plainEnd() {
    return plainOffset + plainLength;
  }

  /** Where the stored bytes of the next frame begin. */
  public long storedEnd() {
    return storedOffset + storedLength();
  }
}
