package dev.ashlar.gateway.http;

import io.netty.buffer.ByteBuf;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;

/**
 * A connection as the threads of requests see it: the only part of it that is for any thread. What
 * they want is done on the connection's event loop.
 */
final class ConnectionHandle {
  private final Connection connection;

  private final AnswerWindow window;
  private final Semaphore admission;

  ConnectionHandle(Connection connection, AnswerWindow window, Semaphore admission) {
    this.connection = connection;
    this.window = window;
    this.admission = admission;
  }

  /** What the client has not taken yet. */
  AnswerWindow window() {
    return window;
  }

  void submit(AnswerBatch batch) {
    onLoop(() -> connection.send(batch), () -> batch.pieces().forEach(ByteBuf::release));
  }

  void ended(Exchange exchange) {
    onLoop(() -> connection.releaseWhenSent(exchange), exchange::releaseReservation);
    // Only now: a server that closes waits for this, and then ends its loops.
    admission.release();
  }

  /** Cuts the client off: it must not take what it got for the whole answer. */
  void abort() {
    onLoop(connection::close, () -> {});
  }

  void resumeReading() {
    onLoop(connection::resumeReading, () -> {});
  }

  /** From the server's shutdown. */
  void shutDown(boolean force) {
    onLoop(() -> connection.shutDown(force), () -> {});
  }

  private void onLoop(Runnable task, Runnable whenLoopIsGone) {
    try {
      connection.loop().execute(task);
    } catch (RejectedExecutionException shutDown) {
      whenLoopIsGone.run();
    }
  }
}
