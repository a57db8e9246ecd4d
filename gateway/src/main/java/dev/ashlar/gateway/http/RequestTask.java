package dev.ashlar.gateway.http;

import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpAnswer;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Serves one request on a virtual thread of its own. */
final class RequestTask implements Runnable {
  private static final Logger LOG = LoggerFactory.getLogger(RequestTask.class);

  private final ConnectionHandle handle;
  private final Exchange exchange;
  private final ServerState shared;

  RequestTask(ConnectionHandle handle, Exchange exchange, ServerState shared) {
    this.handle = handle;
    this.exchange = exchange;
    this.shared = shared;
  }

  @Override
  public void run() {
    try {
      HttpAnswer answer = handle();
      // The memory of the body is free now; a streamed answer reserves its own.
      exchange.queue().close();
      exchange.releaseReservation();
      send(answer);
    } finally {
      exchange.queue().close();
      exchange.runEndActions();
      handle.ended(exchange);
    }
  }

  private HttpAnswer handle() {
    try {
      return shared.handler().handle(exchange);
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
        Math.min(streamed.length(), shared.config().limits().answerWindowBytes()))) {
      stream(answer, streamed);
    } else {
      shared.metrics().rejected();
      sendWhole(error(new S3Exception(S3Error.SLOW_DOWN)));
    }
  }

  private void sendWhole(HttpAnswer answer) {
    handle.submit(new AnswerBatch(exchange, answer, List.of(), 0, true));
  }

  private void stream(HttpAnswer answer, HttpAnswer.Streamed streamed) {
    AnswerWriter out = new AnswerWriter(handle, exchange, answer, streamed.length());
    try {
      streamed.writer().writeTo(out);
      out.finish();
    } catch (AnswerWindow.ClientGoneException gone) {
      out.abandon();
    } catch (Throwable failure) {
      out.abandon();
      if (out.headSent()) {
        // Only a closed connection tells the client that the announced bytes will not come.
        LOG.warn("answer to request {} aborted", exchange.requestId(), failure);
        handle.abort();
      } else if (failure instanceof HttpAnswer.ReplacementAnswerException instead) {
        exchange.releaseReservation();
        send(instead.answer());
      } else {
        sendWhole(error(failure));
      }
    }
  }

  private HttpAnswer error(Throwable failure) {
    S3Exception error =
        switch (failure) {
          case S3Exception expected -> expected;
          case InterruptedException interrupted -> new S3Exception(S3Error.SERVICE_UNAVAILABLE);
          default -> {
            LOG.error("request {} failed", exchange.requestId(), failure);
            yield new S3Exception(S3Error.INTERNAL_ERROR);
          }
        };
    return shared.errorAnswer(error, exchange.rawPath(), exchange.requestId());
  }
}
