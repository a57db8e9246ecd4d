package dev.ashlar.gateway.operation.shared;

import com.google.protobuf.ByteString;
import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.blob.ObjectWriter;
import dev.ashlar.codec.checksum.Md5;
import dev.ashlar.gateway.encryption.frame.FrameSealer;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.layout.EncryptedRuns;
import dev.ashlar.protocol.layout.FrameLayout;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.EncryptedRun;
import dev.ashlar.protocol.message.NewBlob;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Writes bytes as the frames of a new run. */
final class SealedWriter implements ContentWriter {
  private final ObjectWriter stored;
  private final ByteString run;
  private final FrameSealer sealer;
  private final @Nullable Md5 md5;
  private long length;

  SealedWriter(Backend backend, int profile, long expectedLength, NewKey key) {
    byte[] id = new byte[EncryptedRuns.ID_BYTES];
    backend.random().nextBytes(id);
    run = ByteString.copyFrom(id);
    long frames = expectedLength < 0 ? -1 : FrameLayout.storedSize(expectedLength);
    stored = backend.store().newWriterWithoutMd5(profile, frames);
    sealer = FrameSealer.ofNewRun(key.key(), run, expectedLength, stored::write);
    md5 = key.hasMd5AsEtag() ? backend.store().newMd5() : null;
  }

  @Override
  public boolean hasMd5() {
    return md5 != null;
  }

  /** The buffer may be released only when its MD5 is computed, on another thread. */
  @Override
  public void write(ByteBuf bytes) throws DataUnavailableException, InterruptedException {
    try {
      length += bytes.readableBytes();
      if (md5 != null) {
        hash(md5, bytes);
      }
      for (ByteBuffer each : bytes.nioBuffers()) {
        sealer.write(each);
      }
    } finally {
      bytes.release();
    }
  }

  private static void hash(Md5 md5, ByteBuf bytes) throws InterruptedException {
    ByteBuf hashed =
        bytes.isDirect()
            ? bytes.retain()
            : PooledByteBufAllocator.DEFAULT
                .directBuffer(bytes.readableBytes())
                .writeBytes(bytes.duplicate());
    boolean isTaken = false;
    try {
      md5.add(List.of(hashed.nioBuffers()), hashed::release);
      isTaken = true;
    } finally {
      if (!isTaken) {
        hashed.release();
      }
    }
  }

  @Override
  public byte @Nullable [] finish() throws DataUnavailableException, InterruptedException {
    sealer.finish();
    return md5 == null ? null : md5.digest();
  }

  @Override
  public long length() {
    return length;
  }

  @Override
  public EncryptedRun run() {
    return EncryptedRun.newBuilder().setId(run).setSize(length).build();
  }

  @Override
  public CommandResult commit(Function<List<NewBlob>, Command.Builder> command)
      throws DataUnavailableException, MetadataUnavailableException, InterruptedException {
    return stored.commit(command);
  }

  @Override
  public void close() {
    if (md5 != null) {
      md5.close();
    }
    stored.close();
  }
}
