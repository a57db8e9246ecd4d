package dev.ashlar.gateway.http;

import dev.ashlar.gateway.audit.AuditEvent;
import dev.ashlar.gateway.audit.AuditLog;
import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpAnswer;
import dev.ashlar.gateway.exchange.HttpAnswer.AnswerStream;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Serves one request on a virtual thread of its own. */
record RequestTask(ConnectionHandle connection, Exchange exchange, ServerState shared)
    implements Runnable {

  @Override
  public void run() {
    try {
      HttpAnswer answer = handle();
      // The memory of the body is free now; a streamed answer reserves its own.
      exchange.body().close();
      exchange.releaseReservation();
      send(answer);
    } finally {
      exchange.body().close();
      exchange.runEndActions();
      try {
        audit();
      } finally {
        connection.ended(exchange);
      }
    }
  }

  /** May wait for the audit log, which so holds up the next requests, not this one. */
  private void audit() {
    AuditLog log = shared.audit;
    AuditEvent event = exchange.audit();
    if (log != null && event != null) {
      event.received(exchange.body().takenBytes());
      log.write(event);
    }
  }

  private HttpAnswer handle() {
    try {
      return shared.handler.handle(exchange);
    } catch (Throwable failure) {
      return error(failure);
    }
  }

  private void send(HttpAnswer answer) {
    if (!(answer.body() instanceof HttpAnswer.Streamed streamed)
        || exchange.isHead()
        || !HeadEncoder.allowsBody(answer.status())) {
      sendWhole(answer);
    } else if (exchange.reserve(
        Math.min(streamed.length(), shared.config.limits().answerWindowBytes()))) {
      stream(answer, streamed);
    } else {
      shared.metrics.rejectedRequests.increment();
      sendWhole(error(new S3Exception(S3Error.SLOW_DOWN)));
    }
  }

  private void sendWhole(HttpAnswer answer) {
    answers(answer);
    boolean hasBody = !exchange.isHead() && HeadEncoder.allowsBody(answer.status());
    if (hasBody && answer.body() instanceof HttpAnswer.Bytes bytes) {
      sends(bytes.content().length);
    }
    connection.submit(new Outbound.Batch(exchange, answer, List.of(), true));
  }

  private void stream(HttpAnswer answer, HttpAnswer.Streamed streamed) {
    AnswerWriter out = new AnswerWriter(answer, streamed.length());
    answers(answer);
    try {
      streamed.writer().writeTo(out);
      out.finish();
    } catch (AnswerWindow.ClientGoneException gone) {
      out.abandon();
      aborted();
    } catch (Throwable failure) {
      out.abandon();
      if (out.headSent()) {
        // Only a closed connection tells the client that the announced bytes will not come.
        shared.aborted.log(
            "The answer to request " + exchange.requestId() + " was aborted.", failure);
        aborted();
        connection.abort();
      } else if (failure instanceof HttpAnswer.ReplacementAnswerException instead) {
        exchange.releaseReservation();
        send(instead.answer());
      } else {
        sendWhole(error(failure));
      }
    }
  }

  private void answers(HttpAnswer answer) {
    exchange.answers(answer.status());
    AuditEvent audit = exchange.audit();
    if (audit != null) {
      audit.status(answer.status());
    }
  }

  private void sends(long bytes) {
    exchange.sends(bytes);
    AuditEvent audit = exchange.audit();
    if (audit != null) {
      audit.sent(bytes);
    }
  }

  private void aborted() {
    AuditEvent audit = exchange.audit();
    if (audit != null) {
      audit.aborted();
    }
  }

  private HttpAnswer error(Throwable failure) {
    S3Exception error =
        switch (failure) {
          case S3Exception expected -> expected;
          case InterruptedException interrupted -> new S3Exception(S3Error.SERVICE_UNAVAILABLE);
          default -> {
            shared.failed.log("Request " + exchange.requestId() + " failed.", failure);
            yield new S3Exception(S3Error.INTERNAL_ERROR);
          }
        };
    AuditEvent audit = exchange.audit();
    if (audit != null) {
      audit.failed(error);
    }
    return shared.errorAnswer(error, exchange.rawPath(), exchange.requestId());
  }

  /**
   * Sends a streamed answer from the request's thread. The head is sent with the first batch, so
   * that a read that fails before it can still be answered with an error document.
   */
  private final class AnswerWriter implements AnswerStream {
    // At most the least window of the engine, whose memory they hold: a request that keeps more
    // than one of two windows could wait for itself.
    private static final int BATCH_BYTES = 128 << 10;

    /** However short they are, each may hold a slab. */
    private static final int BATCH_PIECES = 32;

    private @Nullable HttpAnswer unsentHead;
    private List<ByteBuf> pieces = new ArrayList<>(4);
    private long batchBytes;
    private long leftBytes;

    AnswerWriter(HttpAnswer answer, long length) {
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
      boolean isFull = batchBytes >= BATCH_BYTES || pieces.size() >= BATCH_PIECES;
      if (isFull && leftBytes > 0) {
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
      connection.window().acquire(batchBytes);
      sends(batchBytes);
      Outbound.Batch batch = new Outbound.Batch(exchange, unsentHead, pieces, last);
      unsentHead = null;
      pieces = new ArrayList<>(4);
      batchBytes = 0;
      connection.submit(batch);
    }
  }
}
