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
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Writes bytes as the frames of a new run. */
final class SealedWriter implements ContentWriter {
  /** Added to the MD5 at once. Larger batches let more uploads share a step. */
  private static final int HASHED_BYTES = 256 << 10;

  /** Each keeps the buffer of a whole socket read alive. */
  private static final int HASHED_PIECES_MAX = 8;

  private final ObjectWriter stored;
  private final ByteString run;
  private final FrameSealer sealer;
  private final @Nullable Md5 md5;
  private final List<ByteBuf> unhashed = new ArrayList<>();
  private int unhashedBytes;
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
        keep(bytes);
        if (unhashedBytes >= HASHED_BYTES || unhashed.size() >= HASHED_PIECES_MAX) {
          hash(md5);
        }
      }
      for (ByteBuffer each : bytes.nioBuffers()) {
        sealer.write(each);
      }
    } finally {
      bytes.release();
    }
  }

  private void keep(ByteBuf bytes) {
    unhashed.add(
        bytes.isDirect()
            ? bytes.retain()
            : PooledByteBufAllocator.DEFAULT
                .directBuffer(bytes.readableBytes())
                .writeBytes(bytes.duplicate()));
    unhashedBytes += bytes.readableBytes();
  }

  private void hash(Md5 running) throws InterruptedException {
    List<ByteBuf> hashed = List.copyOf(unhashed);
    List<ByteBuffer> pieces = new ArrayList<>();
    hashed.forEach(each -> Collections.addAll(pieces, each.nioBuffers()));
    running.add(pieces, () -> hashed.forEach(ByteBuf::release));
    unhashed.clear();
    unhashedBytes = 0;
  }

  @Override
  public byte @Nullable [] finish() throws DataUnavailableException, InterruptedException {
    if (md5 == null) {
      sealer.finish();
      return null;
    }
    hash(md5); // first, as what follows may wait for drives
    sealer.finish();
    if (md5.hasCompany()) {
      stored.finish(); // meanwhile others join the MD5
    }
    return md5.digest();
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
    unhashed.forEach(ByteBuf::release);
    unhashed.clear();
    stored.close();
  }
}
