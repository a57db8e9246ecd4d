package dev.ashlar.gateway.auth;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.ashlar.gateway.checksum.Digests;
import java.security.MessageDigest;
import java.util.HexFormat;

/** The chain of signatures over a streamed payload; each one covers the previous. */
final class ChunkSignatures {
  private static final String CHUNK = "AWS4-HMAC-SHA256-PAYLOAD";
  private static final String TRAILER = "AWS4-HMAC-SHA256-TRAILER";

  private final SigningKeys.HmacKey key;
  private final String scopeLines;
  private String previous;

  ChunkSignatures(SigningKeys.HmacKey key, SignatureClaim claim) {
    this.key = key;
    this.scopeLines = '\n' + claim.timestamp() + '\n' + claim.scope().text() + '\n';
    this.previous = claim.signature();
  }

  /**
   * Whether this is the signature of the next chunk.
   *
   * @param sha256 of its data
   */
  boolean endChunk(byte[] sha256, String signature) {
    String hash = HexFormat.of().formatHex(sha256);
    return matches(
        CHUNK + scopeLines + previous + '\n' + Digests.SHA256_OF_NOTHING + '\n' + hash, signature);
  }

  /**
   * @param lines {@code name:value\n} of each trailer
   */
  boolean endTrailers(String lines, String signature) {
    String hash = Digests.sha256Hex(lines.getBytes(ISO_8859_1));
    return matches(TRAILER + scopeLines + previous + '\n' + hash, signature);
  }

  private boolean matches(String toSign, String signature) {
    String expected = HexFormat.of().formatHex(key.sign(toSign.getBytes(ISO_8859_1)));
    previous = expected;
    return MessageDigest.isEqual(expected.getBytes(ISO_8859_1), signature.getBytes(ISO_8859_1));
  }
}
