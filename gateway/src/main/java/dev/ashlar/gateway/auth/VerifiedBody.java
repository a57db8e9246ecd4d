package dev.ashlar.gateway.auth;

import com.google.protobuf.ByteString;
import dev.ashlar.gateway.auth.Authenticator.PayloadBody;
import dev.ashlar.gateway.checksum.ChecksumKind;
import dev.ashlar.gateway.checksum.Digests;
import dev.ashlar.gateway.checksum.RunningDigest;
import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpExchange.RequestBody;
import dev.ashlar.protocol.message.ChecksumAlgorithm;
import dev.ashlar.protocol.message.ChecksumValue;
import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.HexFormat;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Computes each digest of the payload once, and compares it at the end with the expected one. */
final class VerifiedBody implements PayloadBody {
  private static final int SLICE_BYTES = 256 << 10;

  private final RequestBody source;
  private final @Nullable String expectedSha256;
  private final byte @Nullable [] expectedMd5;
  private final @Nullable DeclaredChecksum declared;
  private final @Nullable RunningDigest sha256;
  private @Nullable RunningDigest md5;
  private @Nullable RunningDigest checksum;
  private @Nullable ChecksumKind kind;
  private ChecksumValue result = ChecksumValue.getDefaultInstance();
  private boolean verified;

  /**
   * @param sha256Hex that the client sent; null when the payload's hash was not signed
   * @param md5 likewise; null without Content-MD5
   * @param declared null when the client sent no checksum
   */
  VerifiedBody(
      RequestBody source,
      @Nullable String sha256Hex,
      byte @Nullable [] md5,
      @Nullable DeclaredChecksum declared) {
    this.source = source;
    this.expectedSha256 = sha256Hex;
    this.expectedMd5 = md5;
    this.declared = declared;
    this.sha256 = sha256Hex == null ? null : ChecksumKind.SHA256.start();
    this.md5 = md5 == null ? null : RunningDigest.of(Digests.md5());
    if (declared != null) {
      start(declared.kind());
    }
  }

  private void start(ChecksumKind chosen) {
    kind = chosen;
    checksum = chosen == ChecksumKind.SHA256 && sha256 != null ? sha256 : chosen.start();
  }

  @Override
  public long length() {
    return source.length();
  }

  @Override
  public void alsoCompute(ChecksumAlgorithm algorithm) {
    if (checksum == null) {
      start(ChecksumKind.of(algorithm));
    }
  }

  @Override
  public void skipMd5() {
    md5 = null;
  }

  @Override
  public ChecksumValue checksum() {
    return result;
  }

  @Override
  public @Nullable ByteBuf read() throws S3Exception, InterruptedException {
    ByteBuf piece = source.read();
    if (piece != null) {
      forEachSlice(piece, this::update);
    } else if (!verified) {
      verify();
      verified = true;
    }
    return piece;
  }

  /** Processes a buffer in slices and yields between them. */
  // Virtual threads are not preempted: without the yield, others would wait for a whole buffer.
  @SuppressWarnings("ThreadPriorityCheck")
  static void forEachSlice(ByteBuf piece, Consumer<ByteBuffer> work) {
    for (ByteBuffer whole : piece.nioBuffers()) {
      for (int at = 0; at < whole.limit(); at += SLICE_BYTES) {
        if (at > 0) {
          Thread.yield();
        }
        work.accept(whole.slice(at, Math.min(SLICE_BYTES, whole.limit() - at)));
      }
    }
  }

  private void update(ByteBuffer bytes) {
    if (sha256 != null) {
      sha256.update(bytes.duplicate());
    }
    if (md5 != null) {
      md5.update(bytes.duplicate());
    }
    if (checksum != null && checksum != sha256) {
      checksum.update(bytes);
    }
  }

  private void verify() throws S3Exception {
    verifySha256();
    if (md5 != null) {
      requireMd5(md5.value());
    }
    RunningDigest running = checksum;
    ChecksumKind of = kind;
    if (running != null && of != null) {
      if (declared != null) {
        verifyChecksum(of, running.value());
      }
      result =
          ChecksumValue.newBuilder()
              .setAlgorithm(of.algorithm())
              .setValue(ByteString.copyFrom(running.value()))
              .build();
    }
  }

  private void verifySha256() throws S3Exception {
    if (sha256 == null || expectedSha256 == null) {
      return;
    }
    String computed = HexFormat.of().formatHex(sha256.value());
    if (!computed.equals(expectedSha256)) {
      throw new S3Exception(S3Error.X_AMZ_CONTENT_SHA256_MISMATCH)
          .with("ClientComputedContentSHA256", expectedSha256)
          .with("S3ComputedContentSHA256", computed);
    }
  }

  @Override
  public void requireMd5(byte[] computed) throws S3Exception {
    byte[] sent = expectedMd5;
    if (sent != null && !MessageDigest.isEqual(computed, sent)) {
      throw new S3Exception(
              S3Error.BAD_DIGEST, "The Content-MD5 you specified did not match what we received.")
          .with("ExpectedDigest", Base64.getEncoder().encodeToString(sent))
          .with("CalculatedDigest", Base64.getEncoder().encodeToString(computed));
    }
  }

  private void verifyChecksum(ChecksumKind of, byte[] computed) throws S3Exception {
    if (!MessageDigest.isEqual(computed, expectedChecksum(of))) {
      throw new S3Exception(
          S3Error.BAD_DIGEST,
          "The " + of.name() + " you specified did not match the calculated checksum.");
    }
  }

  private byte[] expectedChecksum(ChecksumKind of) throws S3Exception {
    byte[] inHeader = declared == null ? null : declared.expected();
    if (inHeader != null) {
      return inHeader;
    }
    String inTrailer =
        source instanceof AwsChunkedBody chunked ? chunked.trailer(of.header()) : null;
    if (inTrailer == null) {
      throw new S3Exception(S3Error.MALFORMED_TRAILER_ERROR);
    }
    return DeclaredChecksum.decode(of, inTrailer, "trailing header");
  }
}
