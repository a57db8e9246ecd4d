package dev.ashlar.gateway.operation.object;

import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.blob.DataUnavailableException.Reason;
import dev.ashlar.gateway.access.AccessControl.Permit;
import dev.ashlar.gateway.encryption.CustomerFields;
import dev.ashlar.gateway.encryption.EncryptionHeaders;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpAnswer;
import dev.ashlar.gateway.exchange.HttpExchange;
import dev.ashlar.gateway.operation.shared.Answers;
import dev.ashlar.gateway.operation.shared.Backend;
import dev.ashlar.gateway.operation.shared.ErrorMapping;
import dev.ashlar.gateway.operation.shared.ObjectContent;
import dev.ashlar.gateway.s3.S3Request;
import dev.ashlar.protocol.client.ObjectRead;
import dev.ashlar.protocol.client.UnavailableException;
import dev.ashlar.protocol.message.ObjectFacts;

/** Sends an object or a range of it. */
public record GetObjectHandler(Backend backend) {
  private static final int TRIES = 3;

  public HttpAnswer handle(S3Request.GetObject request, HttpExchange exchange, Permit permit)
      throws S3Exception, UnavailableException, InterruptedException {
    if (permit.caller().isAnonymous() && !request.options().overrides().isEmpty()) {
      throw S3Exception.invalidRequest(
          "Request specific response headers cannot be used for anonymous GET requests.");
    }
    return open(request, exchange, permit, TRIES);
  }

  /** Reads the metadata again if the object was replaced or deleted since they were read. */
  private HttpAnswer open(
      S3Request.GetObject request, HttpExchange exchange, Permit permit, int tries)
      throws S3Exception, UnavailableException, InterruptedException {
    ObjectRead object = permit.object();
    ObjectAnswerHead view = ObjectAnswerHead.of(object.object(), request.options());
    Answers.addVersion(view.headers(), permit);
    try {
      ObjectFacts facts = object.object().getFacts();
      CustomerFields customer = request.options().customer();
      if (view.status() == 304) {
        ObjectContent.requireCustomerKey(backend, facts, customer);
        return Answers.empty(304, view.headers());
      }
      HttpAnswer.Body body =
          ObjectBody.open(
              exchange,
              ObjectContent.open(
                  backend,
                  new ObjectContent.Place(request.bucket(), request.key()),
                  object,
                  customer),
              view.range(),
              gone -> reopen(request, exchange, permit, tries, gone));
      new ObjectFactHeaders(request, request.key(), permit).addTo(view.headers());
      EncryptionHeaders.add(view.headers(), facts, customer);
      return new HttpAnswer(view.status(), view.headers(), body);
    } catch (DataUnavailableException e) {
      if (e.reason() != Reason.GONE) {
        throw e;
      }
      return reopen(request, exchange, permit, tries, e);
    }
  }

  private HttpAnswer reopen(
      S3Request.GetObject request,
      HttpExchange exchange,
      Permit permit,
      int tries,
      DataUnavailableException gone)
      throws S3Exception, InterruptedException {
    if (tries == 1) {
      throw ErrorMapping.of(gone);
    }
    try {
      Permit renewed = backend.access().require(permit.caller(), request.needs());
      return open(request, exchange, renewed, tries - 1);
    } catch (UnavailableException e) {
      throw ErrorMapping.of(e);
    }
  }
}
