package dev.ashlar.bench.load;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/**
 * Random bytes that all request bodies are cut from, without copying. A body begins at one of
 * several places, its variant, so that its SHA-256 is computed once and not for each request.
 */
final class Payload implements AutoCloseable {
  static final int VARIANTS = 16;
  private static final int PIECE_BYTES = 4 << 20;
  private static final int VARIANT_STEP_BYTES = 4096 + 64;

  private final ByteBuf bytes;
  private final boolean isSigned;
  private final Map<Body, String> hashes = new ConcurrentHashMap<>();

  private record Body(int variant, long length) {}

  Payload(long seed, boolean isSigned) {
    byte[] random = new byte[PIECE_BYTES + VARIANTS * VARIANT_STEP_BYTES];
    new SplittableRandom(seed).nextBytes(random);
    bytes = Unpooled.directBuffer(random.length).writeBytes(random);
    this.isSigned = isSigned;
  }

  /** Hands over the body in pieces, each to be released by the receiver. */
  void pieces(int variant, long length, Consumer<ByteBuf> receiver) {
    for (long at = 0; at < length; at += PIECE_BYTES) {
      int piece = (int) Math.min(PIECE_BYTES, length - at);
      receiver.accept(bytes.retainedSlice(variant * VARIANT_STEP_BYTES, piece));
    }
  }

  /** The value of {@code x-amz-content-sha256}. */
  String hash(int variant, long length) {
    return isSigned
        ? hashes.computeIfAbsent(new Body(variant, length), this::sha256)
        : Signer.UNSIGNED_PAYLOAD;
  }

  private String sha256(Body body) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      pieces(
          body.variant,
          body.length,
          piece -> {
            digest.update(piece.nioBuffer());
            piece.release();
          });
      return Signer.hex(digest.digest());
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void close() {
    bytes.release();
  }
}
