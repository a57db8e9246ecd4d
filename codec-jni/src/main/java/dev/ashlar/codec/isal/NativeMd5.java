package dev.ashlar.codec.isal;

import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** MD5 without its padding: one message, or several in the lanes of the CPU's vectors. */
public final class NativeMd5 {
  public static final int BLOCK_BYTES = 64;
  public static final int STATE_WORDS = 4;

  /** Messages abreast. */
  public static final int LANES = 16;

  static final int END_BLOCKS_MAX = 2;
  private static final boolean AVAILABLE = NativeLibrary.failure() == null;

  private NativeMd5() {}

  public static boolean isAvailable() {
    return AVAILABLE;
  }

  /** Takes in the whole blocks between position and limit, without moving the position. */
  public static void update(int[] state, ByteBuffer direct) {
    checkState(state);
    int position = direct.position();
    int blocks = checkedBlocks(direct, position, direct.limit() - position);
    NativeMethods.md5(state, direct, position, blocks);
  }

  /** Takes in the end of a message with its padding, one or two blocks. */
  public static void end(int[] state, byte[] end) {
    checkState(state);
    int blocks = end.length / BLOCK_BYTES;
    if (blocks > END_BLOCKS_MAX || blocks * BLOCK_BYTES != end.length) {
      throw new IllegalArgumentException("an end of " + end.length + " bytes");
    }
    NativeMethods.md5End(state, end, blocks);
  }

  private static void checkState(int[] state) {
    if (state.length != STATE_WORDS) {
      throw new IllegalArgumentException("a state of " + state.length + " words");
    }
  }

  private static int checkedBlocks(ByteBuffer direct, int position, int length) {
    if (!direct.isDirect()) {
      throw new IllegalArgumentException("not a direct buffer");
    }
    Objects.checkFromIndexSize(position, length, direct.capacity());
    if (length % BLOCK_BYTES != 0) {
      throw new IllegalArgumentException(length + " bytes are not whole blocks");
    }
    return length / BLOCK_BYTES;
  }

  /** The lanes' states and what each is to read next. For one thread at a time. */
  public static final class Lanes {
    private static final int DATA_OFFSET = STATE_WORDS * LANES * Integer.BYTES;

    private final ByteBuffer memory =
        ByteBuffer.allocateDirect(DATA_OFFSET + LANES * Long.BYTES).order(ByteOrder.nativeOrder());
    private final long address = NativeMethods.address(memory);
    private final @Nullable ByteBuffer[] data = new ByteBuffer[LANES];
    // Kept because the buffers' own positions are not ours.
    private final int[] blocksLeft = new int[LANES];

    public Lanes() {
      NativeLibrary.require();
    }

    /** Sets what {@link #update} reads: whole blocks from the position to the limit. */
    public void set(int lane, int[] state, ByteBuffer direct) {
      checkState(state);
      int position = direct.position();
      blocksLeft[lane] = checkedBlocks(direct, position, direct.limit() - position);
      data[lane] = direct;
      memory.putLong(DATA_OFFSET + lane * Long.BYTES, NativeMethods.address(direct) + position);
      for (int word = 0; word < STATE_WORDS; word++) {
        memory.putInt((word * LANES + lane) * Integer.BYTES, state[word]);
      }
    }

    /** Takes so many blocks into each of the first lanes, each of which was set before the call. */
    public void update(int count, int blocks) {
      Objects.checkFromIndexSize(0, count, LANES);
      for (int lane = 0; lane < count; lane++) {
        if (blocks < 0 || blocks > blocksLeft[lane]) {
          throw new IllegalArgumentException("lane " + lane + " has fewer blocks than " + blocks);
        }
      }
      try {
        NativeMethods.md5Lanes(address, count, blocks);
      } finally {
        Reference.reachabilityFence(this);
        Arrays.fill(blocksLeft, 0);
        Arrays.fill(data, null);
      }
    }

    public void get(int lane, int[] state) {
      checkState(state);
      for (int word = 0; word < STATE_WORDS; word++) {
        state[word] = memory.getInt((word * LANES + lane) * Integer.BYTES);
      }
    }
  }
}
