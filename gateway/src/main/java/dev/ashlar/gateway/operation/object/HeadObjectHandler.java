package dev.ashlar.gateway.operation.object;

import dev.ashlar.gateway.access.AccessControl.Permit;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpAnswer;
import dev.ashlar.gateway.operation.shared.Answers;
import dev.ashlar.gateway.s3.S3Request;

/** Answers with the headers of GetObject, without the body. */
public final class HeadObjectHandler {
  private HeadObjectHandler() {}

  public static HttpAnswer handle(S3Request.HeadObject request, Permit permit) throws S3Exception {
    ObjectAnswerHead view = ObjectAnswerHead.of(permit.object().object(), request.options());
    Answers.addVersion(view.headers(), permit);
    if (view.status() != 304) {
      view.headers().set("Content-Length", Long.toString(view.range().length()));
      new ObjectFactHeaders(request, request.key(), permit).addTo(view.headers());
    }
    return Answers.empty(view.status(), view.headers());
  }
}
