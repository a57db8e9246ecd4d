package dev.ashlar.gateway.operation.shared;

import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.blob.ObjectWriter;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.EncryptedRun;
import dev.ashlar.protocol.message.NewBlob;
import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Writes bytes as they are. */
record PlainWriter(ObjectWriter stored) implements ContentWriter {
  @Override
  public boolean hasMd5() {
    return true;
  }

  @Override
  public void write(ByteBuf bytes) throws DataUnavailableException, InterruptedException {
    try {
      for (ByteBuffer each : bytes.nioBuffers()) {
        stored.write(each);
      }
    } finally {
      bytes.release();
    }
  }

  @Override
  public byte[] finish() throws DataUnavailableException, InterruptedException {
    return stored.md5();
  }

  @Override
  public long length() {
    return stored.length();
  }

  @Override
  public @Nullable EncryptedRun run() {
    return null;
  }

  @Override
  public CommandResult commit(Function<List<NewBlob>, Command.Builder> command)
      throws DataUnavailableException, MetadataUnavailableException, InterruptedException {
    return stored.commit(command);
  }

  @Override
  public void close() {
    stored.close();
  }
}
