package dev.ashlar.gateway.exchange;

import io.netty.handler.codec.http.HttpHeaders;

/** One request whose head has been parsed; used by one virtual thread only. */
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
   * Runs on the request's thread when the handler and the answer's writer are done, whatever the
   * outcome: gives back what a body's decorator holds unread.
   */
  void onEnd(Runnable action);
}
