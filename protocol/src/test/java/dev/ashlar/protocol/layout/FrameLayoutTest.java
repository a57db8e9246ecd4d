package dev.ashlar.protocol.layout;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class FrameLayoutTest {
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
}
