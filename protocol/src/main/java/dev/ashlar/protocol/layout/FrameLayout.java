package dev.ashlar.protocol.layout;

/**
 * Where the plain bytes of an encrypted run lie among its stored bytes. A run is a sequence of
 * frames. Each holds {@value #PLAIN_BYTES} plain bytes, the last one what is left, between a nonce
 * and a tag. A run without bytes has no frames.
 */
public final class FrameLayout {
  /** Plain bytes of every frame but the last. */
  public static final int PLAIN_BYTES = 64 << 10;

  /** A nonce of AES-GCM, before the encrypted bytes. */
  public static final int NONCE_BYTES = 12;

  /** A tag of AES-GCM, behind the encrypted bytes. */
  public static final int TAG_BYTES = 16;

  /** Stored bytes of every frame but the last. */
  public static final int FRAME_BYTES = NONCE_BYTES + PLAIN_BYTES + TAG_BYTES;

  private FrameLayout() {}

  /** The number of frames of a run. */
  public static long frames(long plainSize) {
    return (plainSize + PLAIN_BYTES - 1) / PLAIN_BYTES;
  }

  /** The stored bytes of a run. */
  public static long storedSize(long plainSize) {
    return plainSize + frames(plainSize) * (NONCE_BYTES + TAG_BYTES);
  }
}
