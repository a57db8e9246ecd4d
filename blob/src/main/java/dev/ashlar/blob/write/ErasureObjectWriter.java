package dev.ashlar.blob.write;

import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.blob.ObjectWriter;
import dev.ashlar.blob.context.EngineContext;
import dev.ashlar.blob.context.RequestMemory;
import dev.ashlar.codec.checksum.Md5;
import dev.ashlar.codec.checksum.Md5Lanes;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.NewBlob;
import dev.ashlar.protocol.message.ResultCode;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Splits the data of an object into consecutive blobs of bounded length. */
public final class ErasureObjectWriter implements ObjectWriter {
  private enum State {
    /** Nothing was proposed: the written shards can be removed. */
    OPEN,
    /** A command that names the blobs was proposed: only metadata knows its outcome. */
    PROPOSED,
    /** Committed, or removed. */
    SETTLED
  }

  private final EngineContext engine;
  private final Md5Lanes lanes;
  private final @Nullable Md5 md5;
  private final int profile;
  private final long expectedLength;
  private final RequestMemory memory;
  private final List<BlobWriter> blobs = new ArrayList<>();
  private final List<NewBlob> finished = new ArrayList<>();
  private @Nullable BlobWriter current;
  private byte @Nullable [] digest;
  private State state = State.OPEN;
  private long length;

  /**
   * @param md5 of the bytes, closed with this writer; null if no MD5 is needed
   * @param profile its number
   */
  public ErasureObjectWriter(
      EngineContext engine, Md5Lanes lanes, @Nullable Md5 md5, int profile, long expectedLength) {
    this.engine = engine;
    this.lanes = lanes;
    this.profile = profile;
    this.expectedLength = expectedLength;
    this.memory = new RequestMemory(engine.memory());
    this.md5 = md5;
  }

  @Override
  public void write(ByteBuffer bytes) throws DataUnavailableException, InterruptedException {
    checkOpen();
    if (digest != null) {
      throw new IllegalStateException("no bytes may follow the MD5");
    }
    while (bytes.hasRemaining()) {
      BlobWriter blob = current;
      if (blob == null) {
        blob = new BlobWriter(engine, profile, nextBlobBytes(), memory, md5);
        blobs.add(blob);
        current = blob;
      }
      int before = bytes.remaining();
      blob.write(bytes);
      length += before - bytes.remaining();
      if (blob.remaining() == 0) {
        finished.add(blob.finish().getBlob());
        current = null;
      }
    }
  }

  @Override
  public long length() {
    return length;
  }

  @Override
  public byte[] md5() throws DataUnavailableException, InterruptedException {
    checkOpen();
    byte[] known = digest;
    if (known == null) {
      Md5 running = md5;
      if (running == null) {
        throw new IllegalStateException("begun without MD5");
      }
      if (current != null) {
        current.sendRest();
      }
      if (lanes.hasCompany()) {
        // Waits for the drives, so that other writers join the MD5 step; alone, both run in
        // parallel.
        finishCurrent();
      }
      known = running.digest();
      digest = known;
    }
    return known.clone();
  }

  @Override
  public void finish() throws DataUnavailableException, InterruptedException {
    checkOpen();
    finishCurrent();
  }

  private void finishCurrent() throws DataUnavailableException, InterruptedException {
    BlobWriter last = current;
    if (last != null) {
      finished.add(last.finish().getBlob());
      current = null;
    }
  }

  @Override
  public CommandResult commit(Function<List<NewBlob>, Command.Builder> command)
      throws DataUnavailableException, MetadataUnavailableException, InterruptedException {
    checkOpen();
    finishCurrent();
    Command.Builder proposal = command.apply(List.copyOf(finished));
    state = State.PROPOSED;
    CommandResult result;
    try {
      result = engine.metadata().submit(proposal);
    } catch (MetadataUnavailableException e) {
      if (e.isRefused()) {
        state = State.OPEN;
      }
      throw e;
    }
    if (result.getCode() == ResultCode.OK) {
      state = State.SETTLED;
    } else if (result.getCode() != ResultCode.STALE_REQUEST) {
      state = State.OPEN;
    }
    return result;
  }

  @Override
  public void close() {
    if (state == State.OPEN) {
      state = State.SETTLED;
      blobs.forEach(BlobWriter::discard);
    }
    if (md5 != null) {
      md5.close();
    }
    memory.close();
  }

  private long nextBlobBytes() {
    long max = engine.config().blobBytesMax();
    return expectedLength < 0 ? max : Math.clamp(expectedLength - length, 1, max);
  }

  private void checkOpen() {
    if (state != State.OPEN) {
      throw new IllegalStateException("writer is " + state);
    }
  }
}
