package dev.ashlar.gateway.exchange;

import dev.ashlar.gateway.error.S3Exception;

/** Serves one request on the virtual thread that owns it. */
public interface RequestHandler {
  /** Answers the request; an exception is rendered as S3's error document. */
  HttpAnswer handle(HttpExchange exchange) throws S3Exception, InterruptedException;
}
