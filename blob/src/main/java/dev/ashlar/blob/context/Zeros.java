package dev.ashlar.blob.context;

import java.nio.ByteBuffer;

/** Zero bytes in direct memory, shared by all: short and absent strips are encoded as zeros. */
public final class Zeros {
  private static final int FIRST_BYTES = 1 << 18;
  private static volatile ByteBuffer shared = ByteBuffer.allocateDirect(FIRST_BYTES);

  private Zeros() {}

  /** So many zero bytes; never written to. */
  public static ByteBuffer of(int length) {
    ByteBuffer present = shared;
    if (present.capacity() < length) {
      present = ByteBuffer.allocateDirect(length);
      shared = present;
    }
    return present.slice(0, length);
  }
}
