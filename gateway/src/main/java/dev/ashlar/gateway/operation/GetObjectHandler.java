package dev.ashlar.gateway.operation;

import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.blob.DataUnavailableException.Reason;
import dev.ashlar.gateway.http.HttpAnswer;
import dev.ashlar.gateway.http.HttpExchange;
import dev.ashlar.gateway.s3.S3Exception;
import dev.ashlar.gateway.s3.S3Request;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.ObjectRead;

/** Sends an object or a range of it. */
final class GetObjectHandler {
  private static final int TRIES = 3;

  private final Backend backend;
  private final Buckets buckets;

  GetObjectHandler(Backend backend, Buckets buckets) {
    this.backend = backend;
    this.buckets = buckets;
  }

  HttpAnswer handle(S3Request.GetObject request, HttpExchange exchange, String caller)
      throws S3Exception,
          MetadataUnavailableException,
          DataUnavailableException,
          InterruptedException {
    for (int tries = 1; ; tries++) {
      ObjectRead object = buckets.ownedObject(request.bucket(), request.key(), caller);
      ObjectView view = ObjectView.of(object.object(), request.options());
      try {
        HttpAnswer.Body body = ObjectBody.open(exchange, backend.store(), object, view.range());
        return new HttpAnswer(view.status(), view.headers(), body);
      } catch (DataUnavailableException e) {
        // Replaced or deleted, and its blobs removed, since its metadata was read.
        if (e.reason() != Reason.GONE || tries == TRIES) {
          throw e;
        }
      }
    }
  }
}
