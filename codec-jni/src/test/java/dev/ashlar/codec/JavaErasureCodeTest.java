package dev.ashlar.codec;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

class JavaErasureCodeTest extends ErasureCodeContract {
  @Override
  ErasureCode create(int dataShards, int parityShards) {
    return Codecs.create(CodecChoice.JAVA, dataShards, parityShards);
  }

  @Test
  void takesHeapBuffersToo() {
    try (ErasureCode code = create(2, 1)) {
      assertEquals("java", code.name());
      ByteBuffer parity = ByteBuffer.allocate(3);
      code.encode(
          new ByteBuffer[] {
            ByteBuffer.wrap(new byte[] {1, 2, 3}), ByteBuffer.wrap(new byte[] {4, 5, 6})
          },
          new ByteBuffer[] {parity});
      assertArrayEquals(new byte[] {5, 7, 5}, parity.array());
    }
  }
}
