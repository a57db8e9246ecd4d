package dev.ashlar.gateway.auth;

import dev.ashlar.codec.checksum.Sha256Pair;
import dev.ashlar.gateway.checksum.Digests;
import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Verifies the signatures of a body's chunks, in their order. Two chunks are hashed together in
 * less time than one after the other, so a short chunk is held until the next one is complete. Then
 * a signature that does not match is found one chunk late.
 */
final class ChunkVerifier {
  /** Longer chunks are hashed as they arrive. */
  static final int HELD_BYTES_MAX = 128 << 10;

  /**
   * Of one chunk; one in more pieces is hashed as it arrives. Each piece keeps the whole buffer of
   * one socket read alive, however small it is, so the pieces of two chunks may keep as much memory
   * as a full body queue.
   */
  static final int HELD_PIECES_MAX = 32;

  private final ChunkSignatures signatures;
  private final boolean inPairs;
  private final MessageDigest digest = Digests.sha256();
  private final List<HeldChunk> held = new ArrayList<>(2);
  private String signature = "";

  /** The chunk that arrives; null if it is hashed meanwhile. */
  private @Nullable HeldChunk arriving;

  ChunkVerifier(ChunkSignatures signatures) {
    this(signatures, Sha256Pair.isAvailable());
  }

  /**
   * @param inPairs false: each chunk is hashed as it arrives
   */
  ChunkVerifier(ChunkSignatures signatures, boolean inPairs) {
    this.signatures = signatures;
    this.inPairs = inPairs;
  }

  /** Retained buffers of a chunk, and the bytes of it that are in them. */
  private record HeldChunk(String signature, List<ByteBuf> pieces, List<ByteBuffer> data) {
    HeldChunk(String signature) {
      this(signature, new ArrayList<>(), new ArrayList<>());
    }

    void add(ByteBuf piece) {
      pieces.add(piece.retain());
      Collections.addAll(data, piece.nioBuffers());
    }

    void release() {
      pieces.forEach(ByteBuf::release);
      pieces.clear();
    }
  }

  /** Begins a chunk of so many bytes. */
  void begin(long bytes, String chunkSignature) throws S3Exception {
    signature = chunkSignature;
    if (inPairs && bytes <= HELD_BYTES_MAX) {
      arriving = new HeldChunk(chunkSignature);
    } else {
      verifyHeld();
    }
  }

  /** The next bytes of the chunk, which are retained if need be. */
  void add(ByteBuf piece) throws S3Exception {
    if (arriving != null && arriving.pieces().size() == HELD_PIECES_MAX) {
      stopHolding(arriving);
    }
    if (arriving != null) {
      arriving.add(piece);
    } else {
      VerifiedBody.forEachSlice(piece, digest::update);
    }
  }

  private void stopHolding(HeldChunk chunk) throws S3Exception {
    verifyHeld();
    chunk.data().forEach(digest::update);
    chunk.release();
    arriving = null;
  }

  /** All bytes of the chunk have been added. */
  void end() throws S3Exception {
    if (arriving == null) {
      verify(digest.digest(), signature);
      return;
    }
    held.add(arriving);
    arriving = null;
    if (held.size() == 2) {
      verifyHeld();
    }
  }

  /** Verifies the signatures of all chunks that have ended. */
  void verifyHeld() throws S3Exception {
    if (held.isEmpty()) {
      return;
    }
    try {
      List<byte[]> hashes = Sha256Pair.hash(held.stream().map(HeldChunk::data).toList());
      for (int i = 0; i < hashes.size(); i++) {
        verify(hashes.get(i), held.get(i).signature());
      }
    } finally {
      releaseHeld();
    }
  }

  private void verify(byte[] hash, String claimed) throws S3Exception {
    if (!signatures.endChunk(hash, claimed)) {
      throw new S3Exception(S3Error.SIGNATURE_DOES_NOT_MATCH);
    }
  }

  /**
   * @param lines {@code name:value\n} of each trailer
   */
  void verifyTrailers(String lines, String trailerSignature) throws S3Exception {
    if (!signatures.endTrailers(lines, trailerSignature)) {
      throw new S3Exception(S3Error.SIGNATURE_DOES_NOT_MATCH);
    }
  }

  /** Releases all buffers; at any time. */
  void close() {
    releaseHeld();
    if (arriving != null) {
      arriving.release();
      arriving = null;
    }
  }

  private void releaseHeld() {
    held.forEach(HeldChunk::release);
    held.clear();
  }
}
