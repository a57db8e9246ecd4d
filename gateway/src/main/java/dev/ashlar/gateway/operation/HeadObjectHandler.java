package dev.ashlar.gateway.operation;

import dev.ashlar.gateway.http.HttpAnswer;
import dev.ashlar.gateway.s3.S3Exception;
import dev.ashlar.gateway.s3.S3Request;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.ObjectRead;

/** Says about an object what GetObject would. */
final class HeadObjectHandler {
  private final Buckets buckets;

  HeadObjectHandler(Buckets buckets) {
    this.buckets = buckets;
  }

  HttpAnswer handle(S3Request.HeadObject request, String caller)
      throws S3Exception, MetadataUnavailableException {
    ObjectRead object = buckets.ownedObject(request.bucket(), request.key(), caller);
    ObjectView view = ObjectView.of(object.object(), request.options());
    if (view.status() != 304) {
      view.headers().set("Content-Length", Long.toString(view.range().length()));
    }
    return Answers.empty(view.status(), view.headers());
  }
}
