package dev.ashlar.gateway.operation.shared;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.gateway.auth.Authenticator.PayloadBody;
import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.s3.SizeLimits;
import dev.ashlar.protocol.message.ChecksumAlgorithm;
import dev.ashlar.protocol.message.ChecksumValue;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.EncryptedRun;
import dev.ashlar.protocol.message.NewBlob;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.List;
import java.util.Random;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class BodyIngestTest {
  private static final int PIECE_BYTES = 64 << 20;

  @Test
  void bodyWithoutALengthEndsAtTheLimit() {
    CountingWriter writer = new CountingWriter();
    EndlessBody body = new EndlessBody();
    S3Exception error =
        assertThrows(S3Exception.class, () -> BodyIngest.copy(body, writer, new Random(1)));
    assertEquals(S3Error.ENTITY_TOO_LARGE, error.error());
    assertTrue(writer.length() > SizeLimits.UPLOAD_BYTES_MAX);
    assertTrue(writer.length() <= SizeLimits.UPLOAD_BYTES_MAX + PIECE_BYTES);
    assertEquals(1, body.piece.refCnt());
  }

  private static final class EndlessBody implements PayloadBody {
    private final ByteBuf piece = Unpooled.wrappedBuffer(new byte[PIECE_BYTES]);

    @Override
    public long length() {
      return -1;
    }

    @Override
    public ByteBuf read() {
      return piece.retainedDuplicate();
    }

    @Override
    public ChecksumValue checksum() {
      return ChecksumValue.getDefaultInstance();
    }

    @Override
    public void alsoCompute(ChecksumAlgorithm algorithm) {}

    @Override
    public void skipMd5() {}

    @Override
    public void requireMd5(byte[] computed) {}
  }

  private static final class CountingWriter implements ContentWriter {
    private long length;

    @Override
    public boolean hasMd5() {
      return false;
    }

    @Override
    public void write(ByteBuf bytes) {
      length += bytes.readableBytes();
      bytes.release();
    }

    @Override
    public byte @Nullable [] finish() {
      return null;
    }

    @Override
    public long length() {
      return length;
    }

    @Override
    public @Nullable EncryptedRun run() {
      return null;
    }

    @Override
    public CommandResult commit(Function<List<NewBlob>, Command.Builder> command) {
      return CommandResult.getDefaultInstance();
    }

    @Override
    public void close() {}
  }
}
