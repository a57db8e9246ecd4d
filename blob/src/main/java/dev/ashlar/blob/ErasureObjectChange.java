package dev.ashlar.blob;

import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.ObjectRead;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.ModifyObject;
import dev.ashlar.protocol.message.ObjectPiece;
import java.nio.ByteBuffer;

/** Puts new blobs in the place of a range of an object. */
final class ErasureObjectChange implements ObjectChange {
  private final ObjectWriter writer;
  private final ObjectRead object;
  private final long offset;

  ErasureObjectChange(ObjectWriter writer, ObjectRead object, long offset) {
    if (offset < 0 || offset > object.object().getSummary().getSize()) {
      throw new IllegalArgumentException("change at " + offset);
    }
    this.writer = writer;
    this.object = object;
    this.offset = offset;
  }

  @Override
  public void write(ByteBuffer bytes) throws DataUnavailableException, InterruptedException {
    writer.write(bytes);
  }

  @Override
  public long length() {
    return writer.length();
  }

  @Override
  public CommandResult commit(ModifyObject.Builder command)
      throws DataUnavailableException, MetadataUnavailableException, InterruptedException {
    return writer.commit(
        blobs -> {
          command
              .setExpectedVersion(object.object().getVersion())
              .setOffset(offset)
              .setLength(writer.length());
          blobs.forEach(blob -> command.addPieces(ObjectPiece.newBuilder().setBlob(blob)));
          return Command.newBuilder().setModifyObject(command);
        });
  }

  @Override
  public void close() {
    writer.close();
  }
}
