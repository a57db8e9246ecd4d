package dev.ashlar.protocol.layout;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Random;
import org.junit.jupiter.api.Test;

/** The frames of a run, compared with one that is laid out frame by frame. */
class FrameLayoutTest {
  private static final int SEED = 20261128;

  @Test
  void theStoredBytesAreThoseOfTheFrames() {
    long overhead = FrameLayout.NONCE_BYTES + FrameLayout.TAG_BYTES;
    assertEquals(0, FrameLayout.storedSize(0));
    assertEquals(1 + overhead, FrameLayout.storedSize(1));
    assertEquals(FrameLayout.FRAME_BYTES, FrameLayout.storedSize(FrameLayout.PLAIN_BYTES));
    assertEquals(
        FrameLayout.FRAME_BYTES + 1 + overhead,
        FrameLayout.storedSize(FrameLayout.PLAIN_BYTES + 1));
  }

  @Test
  void aRangeTouchesTheFramesThatHoldIt() {
    Random random = new Random(SEED);
    for (int i = 0; i < 1000; i++) {
      long size = 1 + random.nextLong(10L * FrameLayout.PLAIN_BYTES);
      long offset = random.nextLong(size);
      long length = 1 + random.nextLong(size - offset);
      ByteRange expected = touched(size, new ByteRange(offset, length));
      assertEquals(
          expected,
          FrameLayout.stored(size, new ByteRange(offset, length)),
          () -> offset + "+" + length + " of " + size + ", seed " + SEED);
    }
    assertEquals(ByteRange.EMPTY, FrameLayout.stored(0, ByteRange.EMPTY));
  }

  private static ByteRange touched(long size, ByteRange plain) {
    long begin = -1;
    long end = 0;
    long stored = 0;
    for (long at = 0; at < size; at += FrameLayout.PLAIN_BYTES) {
      long bytes = Math.min(FrameLayout.PLAIN_BYTES, size - at);
      long behind = stored + bytes + FrameLayout.NONCE_BYTES + FrameLayout.TAG_BYTES;
      if (at < plain.end() && plain.offset() < at + bytes) {
        begin = begin < 0 ? stored : begin;
        end = behind;
      }
      stored = behind;
    }
    assertEquals(stored, FrameLayout.storedSize(size));
    return new ByteRange(begin, end - begin);
  }
}
