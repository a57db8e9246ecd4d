package dev.ashlar.codec.isal;

import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/** SHA-256 of one message, or of two at once, in fragments of any length. */
public final class NativeSha256 {
  public static final int HASH_BYTES = 32;
  public static final int MESSAGES_MAX = 2;

  /** Of one message. */
  public static final int FRAGMENTS_MAX = 64;

  /** Of one message: a call occupies its thread, and the carrier of a virtual one, to its end. */
  public static final int MESSAGE_BYTES_MAX = 256 << 10;

  private static final int FRAGMENT_LONGS = 2;
  private static final boolean AVAILABLE =
      NativeLibrary.failure() == null && NativeMethods.hasSha256();

  private NativeSha256() {}

  /** Whether the library is loaded and the CPU has the instructions. */
  public static boolean isAvailable() {
    return AVAILABLE;
  }

  /** Whether {@link #hash} takes this message: direct buffers, not too many, not too long. */
  public static boolean fits(List<ByteBuffer> message) {
    long bytes = 0;
    for (ByteBuffer fragment : message) {
      if (!fragment.isDirect()) {
        return false;
      }
      bytes += fragment.remaining();
    }
    return message.size() <= FRAGMENTS_MAX && bytes <= MESSAGE_BYTES_MAX;
  }

  /**
   * The hashes of one message or two, each of which {@link #fits}: of what lies between position
   * and limit of its buffers, whose positions do not move.
   */
  public static List<byte[]> hash(List<List<ByteBuffer>> messages) {
    if (!AVAILABLE) {
      throw new IllegalStateException("SHA-256 is not available in native code");
    }
    if (messages.isEmpty() || messages.size() > MESSAGES_MAX) {
      throw new IllegalArgumentException(messages.size() + " messages");
    }
    int count = 0;
    for (List<ByteBuffer> message : messages) {
      if (!fits(message)) {
        throw new IllegalArgumentException("a message that does not fit");
      }
      count += message.size();
    }
    long[] fragments = new long[FRAGMENT_LONGS * count];
    int at = 0;
    for (List<ByteBuffer> message : messages) {
      for (ByteBuffer fragment : message) {
        at = put(fragment, fragments, at);
      }
    }
    byte[] hashes = new byte[HASH_BYTES * messages.size()];
    try {
      NativeMethods.sha256(fragments, messages.getFirst().size(), hashes);
    } finally {
      Reference.reachabilityFence(messages);
    }
    return messages.size() == 1
        ? List.of(hashes)
        : List.of(
            Arrays.copyOf(hashes, HASH_BYTES),
            Arrays.copyOfRange(hashes, HASH_BYTES, hashes.length));
  }

  private static int put(ByteBuffer fragment, long[] fragments, int at) {
    int position = fragment.position();
    int length = fragment.limit() - position;
    Objects.checkFromIndexSize(position, length, fragment.capacity());
    fragments[at] = NativeMethods.address(fragment) + position;
    fragments[at + 1] = length;
    return at + FRAGMENT_LONGS;
  }
}
