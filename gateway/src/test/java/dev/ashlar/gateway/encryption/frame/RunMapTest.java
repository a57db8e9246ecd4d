package dev.ashlar.gateway.encryption.frame;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.layout.FrameLayout;
import dev.ashlar.protocol.message.EncryptedRun;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The frames of a run, compared with one that is laid out frame by frame. */
class RunMapTest {
  private static final int SEED = 20261128;

  private static RunMap mapOf(long size) {
    return new RunMap(List.of(EncryptedRun.newBuilder().setSize(size).build()));
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
          mapOf(size).stored(new ByteRange(offset, length)),
          () -> offset + "+" + length + " of " + size + ", seed " + SEED);
    }
    assertEquals(ByteRange.EMPTY, mapOf(0).stored(ByteRange.EMPTY));
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
