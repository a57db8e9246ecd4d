package dev.ashlar.codec.checksum;

import dev.ashlar.codec.isal.NativeSha256;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.List;

/** SHA-256 of two messages in less time than of one after the other. */
public final class Sha256Pair {
  private Sha256Pair() {}

  /** Whether it pays to wait for a second message: otherwise, the JDK hashes one by one. */
  public static boolean isAvailable() {
    return NativeSha256.isAvailable();
  }

  /**
   * The hashes of one message or two, of what lies between position and limit of their buffers. The
   * JDK computes those of messages that are not in direct buffers, or are too long or in too many
   * pieces for native code.
   */
  public static List<byte[]> hash(List<List<ByteBuffer>> messages) {
    if (NativeSha256.isAvailable() && messages.stream().allMatch(NativeSha256::fits)) {
      return NativeSha256.hash(messages);
    }
    List<byte[]> hashes = new ArrayList<>();
    messages.forEach(message -> hashes.add(hashByJdk(message)));
    return hashes;
  }

  private static byte[] hashByJdk(List<ByteBuffer> message) {
    MessageDigest digest = messageDigest();
    message.forEach(piece -> digest.update(piece.duplicate()));
    return digest.digest();
  }

  private static MessageDigest messageDigest() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }
}
