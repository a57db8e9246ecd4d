package dev.ashlar.gateway.exchange;

import io.netty.handler.codec.http.HttpHeaders;

/** A request whose head has been parsed; used by one virtual thread only. */
public interface HttpExchange {
  /** In capitals, as sent. */
  String method();

  /** The path as sent, percent-encoded, without the query; begins with a slash. */
  String rawPath();

  /** What follows the question mark as sent; empty when there is none. */
  String rawQuery();

  HttpHeaders headers();

  /** The body as it came over the wire, transfer coding removed. */
  RequestBody body();

  /** Sixteen hexadecimal digits; sent back as x-amz-request-id. */
  String requestId();

  /**
   * Registers an action for the request's thread, run when the handler and the writer of the answer
   * have ended in any way. Decorators of bodies release unread buffers so.
   */
  void onEnd(Runnable action);
}
