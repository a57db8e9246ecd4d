package dev.ashlar.gateway.operation.object;

import dev.ashlar.gateway.access.AccessControl.Permit;
import dev.ashlar.gateway.encryption.CustomerFields;
import dev.ashlar.gateway.encryption.EncryptionHeaders;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpAnswer;
import dev.ashlar.gateway.operation.shared.Answers;
import dev.ashlar.gateway.operation.shared.Backend;
import dev.ashlar.gateway.operation.shared.ObjectContent;
import dev.ashlar.gateway.s3.S3Request;
import dev.ashlar.protocol.message.ObjectFacts;

/** Answers with the headers of GetObject, without the body. */
public record HeadObjectHandler(Backend backend) {
  public HttpAnswer handle(S3Request.HeadObject request, Permit permit)
      throws S3Exception, InterruptedException {
    ObjectFacts facts = permit.object().object().getFacts();
    CustomerFields customer = request.options().customer();
    ObjectContent.requireCustomerKey(backend, facts, customer);
    ObjectAnswerHead view = ObjectAnswerHead.of(permit.object().object(), request.options());
    Answers.addVersion(view.headers(), permit);
    if (view.status() != 304) {
      view.headers().set("Content-Length", Long.toString(view.range().length()));
      new ObjectFactHeaders(request, request.key(), permit).addTo(view.headers());
      EncryptionHeaders.add(view.headers(), facts, customer);
    }
    return Answers.empty(view.status(), view.headers());
  }
}
