package dev.ashlar.codec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.ashlar.codec.isal.NativeLibrary;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** Skipped where the native codec was not built, which the build then said. */
class IsalErasureCodeTest extends ErasureCodeContract {
  @Override
  ErasureCode create(int dataShards, int parityShards) {
    Assumptions.assumeTrue(NativeLibrary.failure() == null, NativeLibrary.failure());
    return Codecs.create(CodecChoice.ISAL, dataShards, parityShards);
  }

  @Test
  void heapBuffersAreRefused() {
    try (ErasureCode code = create(2, 1)) {
      assertEquals("isal", code.name());
      ByteBuffer direct = ByteBuffer.allocateDirect(8);
      ByteBuffer heap = ByteBuffer.allocate(8);
      ByteBuffer[] ok = {direct, direct};
      ByteBuffer[] bad = {direct, heap};
      assertThrows(
          IllegalArgumentException.class, () -> code.encode(bad, new ByteBuffer[] {direct}));
      assertThrows(IllegalArgumentException.class, () -> code.encode(ok, new ByteBuffer[] {heap}));
      assertThrows(IllegalArgumentException.class, () -> code.updateParity(0, 0, heap, direct));
    }
  }
}
