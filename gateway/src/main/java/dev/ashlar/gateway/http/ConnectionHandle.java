package dev.ashlar.gateway.http;

import io.netty.buffer.ByteBuf;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;

/**
 * A connection for use by any thread: hands every call to the event loop of the connection.
 *
 * @param window the answer bytes that the client has not received yet
 */
record ConnectionHandle(Connection connection, AnswerWindow window, Semaphore admission) {
  void submit(Outbound.Batch batch) {
    connection.announce();
    onLoop(() -> connection.sendAnnounced(batch), () -> batch.pieces().forEach(ByteBuf::release));
  }

  void ended(Exchange exchange) {
    onLoop(() -> connection.releaseWhenSent(exchange), exchange::releaseReservation);
    // Last: a closing server waits for the permits and then stops the event loops.
    admission.release();
  }

  /** Closes the connection, so that the client does not take a part for the whole answer. */
  void abort() {
    onLoop(connection::close, () -> {});
  }

  void resumeReading() {
    onLoop(connection::resumeReading, () -> {});
  }

  /** Called when the server shuts down. */
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
