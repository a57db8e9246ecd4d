package dev.ashlar.gateway.http;

import dev.ashlar.gateway.s3.S3Exception;

/** Serves one request on the virtual thread that owns it. */
public interface RequestHandler {
  /** Answers the request; an exception is rendered as S3's error document. */
  HttpAnswer handle(HttpExchange exchange) throws S3Exception, InterruptedException;
}
