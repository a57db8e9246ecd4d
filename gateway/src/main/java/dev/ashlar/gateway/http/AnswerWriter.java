package dev.ashlar.gateway.http;

import dev.ashlar.gateway.exchange.AnswerStream;
import dev.ashlar.gateway.exchange.HttpAnswer;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Sends a streamed answer from the request's thread. The head is sent with the first batch, so that
 * a read that fails before it can still be answered with an error document.
 */
final class AnswerWriter implements AnswerStream {
  private static final int BATCH_BYTES = 64 << 10;

  private final ConnectionHandle handle;
  private final Exchange exchange;
  private @Nullable HttpAnswer unsentHead;
  private List<ByteBuf> pieces = new ArrayList<>(4);
  private long batchBytes;
  private long leftBytes;

  AnswerWriter(ConnectionHandle handle, Exchange exchange, HttpAnswer answer, long length) {
    this.handle = handle;
    this.exchange = exchange;
    this.unsentHead = answer;
    this.leftBytes = length;
  }

  @Override
  public void write(ByteBuf bytes) throws IOException, InterruptedException {
    if (bytes.readableBytes() > leftBytes) {
      bytes.release();
      throw new IllegalStateException("the answer is longer than its Content-Length");
    }
    leftBytes -= bytes.readableBytes();
    batchBytes += bytes.readableBytes();
    pieces.add(bytes);
    if (batchBytes >= BATCH_BYTES && leftBytes > 0) {
      submit(false);
    }
  }

  void finish() throws IOException, InterruptedException {
    if (leftBytes != 0) {
      throw new IllegalStateException("the answer is shorter than its Content-Length");
    }
    submit(true);
  }

  boolean headSent() {
    return unsentHead == null;
  }

  /** Releases the pieces that have not been submitted. */
  void abandon() {
    pieces.forEach(ByteBuf::release);
    pieces.clear();
  }

  private void submit(boolean last) throws IOException, InterruptedException {
    handle.window().acquire(batchBytes);
    AnswerBatch batch = new AnswerBatch(exchange, unsentHead, pieces, batchBytes, last);
    unsentHead = null;
    pieces = new ArrayList<>(4);
    batchBytes = 0;
    handle.submit(batch);
  }
}
