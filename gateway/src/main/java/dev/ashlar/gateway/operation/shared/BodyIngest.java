package dev.ashlar.gateway.operation.shared;

import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.gateway.auth.Authenticator.PayloadBody;
import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpExchange.RequestBody;
import dev.ashlar.gateway.s3.SizeLimits;
import dev.ashlar.protocol.message.ChecksumAlgorithm;
import io.netty.buffer.ByteBuf;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import java.util.Random;

/** Reads request bodies: into a writer of objects, or as a document. */
public final class BodyIngest {
  private static final int DOCUMENT_BYTES_MAX = 4 << 20;

  private BodyIngest() {}

  /**
   * Makes the body compute a checksum: the one announced, else the wanted one, else CRC64NVME, as
   * S3 does (it costs a fiftieth of the ETag's MD5).
   */
  public static void chooseChecksum(
      PayloadBody body, ChecksumAlgorithm announced, ChecksumAlgorithm wanted) {
    if (announced == ChecksumAlgorithm.CHECKSUM_NONE) {
      body.alsoCompute(
          wanted == ChecksumAlgorithm.CHECKSUM_NONE
              ? ChecksumAlgorithm.CHECKSUM_CRC64NVME
              : wanted);
    }
  }

  /**
   * Writes the body to the drives and returns its ETag.
   *
   * @throws S3Exception also EntityTooLarge, if it had not told its length
   */
  public static String copy(PayloadBody body, ContentWriter writer, Random random)
      throws S3Exception, DataUnavailableException, InterruptedException {
    if (writer.hasMd5()) {
      body.skipMd5();
    }
    for (ByteBuf piece = body.read(); piece != null; piece = body.read()) {
      writer.write(piece);
      SizeLimits.requireUploadable(writer.length());
    }
    byte[] md5 = writer.finish();
    if (md5 == null) {
      return ContentWriter.randomEtag(random);
    }
    body.requireMd5(md5);
    return HexFormat.of().formatHex(md5);
  }

  public interface Sink {
    void write(ByteBuffer bytes) throws DataUnavailableException, InterruptedException;
  }

  /** Writes the body to the sink. Signatures and digests are verified when this returns. */
  public static void copy(PayloadBody body, Sink sink)
      throws S3Exception, DataUnavailableException, InterruptedException {
    for (ByteBuf piece = body.read(); piece != null; piece = body.read()) {
      try {
        for (ByteBuffer bytes : piece.nioBuffers()) {
          sink.write(bytes);
        }
      } finally {
        piece.release();
      }
    }
  }

  /** Reads a body of at most 4 MiB. */
  public static byte[] document(RequestBody body) throws S3Exception, InterruptedException {
    ByteArrayOutputStream document = new ByteArrayOutputStream();
    for (ByteBuf piece = body.read(); piece != null; piece = body.read()) {
      try {
        if (document.size() + piece.readableBytes() > DOCUMENT_BYTES_MAX) {
          throw new S3Exception(S3Error.MAX_MESSAGE_LENGTH_EXCEEDED);
        }
        byte[] bytes = new byte[piece.readableBytes()];
        piece.readBytes(bytes);
        document.writeBytes(bytes);
      } finally {
        piece.release();
      }
    }
    return document.toByteArray();
  }
}
