package dev.ashlar.gateway.operation.object;

import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpAnswer;
import dev.ashlar.gateway.operation.shared.Answers;
import dev.ashlar.gateway.operation.shared.Buckets;
import dev.ashlar.gateway.s3.S3Request;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.ObjectRead;

/** Says about an object what GetObject would. */
public final class HeadObjectHandler {
  private final Buckets buckets;

  public HeadObjectHandler(Buckets buckets) {
    this.buckets = buckets;
  }

  public HttpAnswer handle(S3Request.HeadObject request, String caller)
      throws S3Exception, MetadataUnavailableException {
    ObjectRead object = buckets.ownedObject(request.bucket(), request.key(), caller);
    ObjectAnswerHead view = ObjectAnswerHead.of(object.object(), request.options());
    if (view.status() != 304) {
      view.headers().set("Content-Length", Long.toString(view.range().length()));
    }
    return Answers.empty(view.status(), view.headers());
  }
}
