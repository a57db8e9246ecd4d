package dev.ashlar.gateway.operation.object;

import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.blob.DataUnavailableException.Reason;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpAnswer;
import dev.ashlar.gateway.exchange.HttpExchange;
import dev.ashlar.gateway.operation.shared.Backend;
import dev.ashlar.gateway.operation.shared.Buckets;
import dev.ashlar.gateway.operation.shared.ErrorMapping;
import dev.ashlar.gateway.s3.S3Request;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.ObjectRead;

/** Sends an object or a range of it. */
public final class GetObjectHandler {
  private static final int TRIES = 3;

  private final Backend backend;
  private final Buckets buckets;

  public GetObjectHandler(Backend backend, Buckets buckets) {
    this.backend = backend;
    this.buckets = buckets;
  }

  public HttpAnswer handle(S3Request.GetObject request, HttpExchange exchange, String caller)
      throws S3Exception,
          MetadataUnavailableException,
          DataUnavailableException,
          InterruptedException {
    return open(request, exchange, caller, TRIES);
  }

  /** Opened again if it was replaced or deleted since its metadata was read. */
  private HttpAnswer open(
      S3Request.GetObject request, HttpExchange exchange, String caller, int tries)
      throws S3Exception,
          MetadataUnavailableException,
          DataUnavailableException,
          InterruptedException {
    ObjectRead object = buckets.ownedObject(request.bucket(), request.key(), caller);
    ObjectAnswerHead view = ObjectAnswerHead.of(object.object(), request.options());
    try {
      HttpAnswer.Body body =
          ObjectBody.open(
              exchange,
              backend.store(),
              object,
              view.range(),
              gone -> reopen(request, exchange, caller, tries, gone));
      return new HttpAnswer(view.status(), view.headers(), body);
    } catch (DataUnavailableException e) {
      if (e.reason() != Reason.GONE) {
        throw e;
      }
      return reopen(request, exchange, caller, tries, e);
    }
  }

  private HttpAnswer reopen(
      S3Request.GetObject request,
      HttpExchange exchange,
      String caller,
      int tries,
      DataUnavailableException gone)
      throws S3Exception, InterruptedException {
    if (tries == 1) {
      throw ErrorMapping.of(gone);
    }
    try {
      return open(request, exchange, caller, tries - 1);
    } catch (MetadataUnavailableException e) {
      throw ErrorMapping.of(e);
    } catch (DataUnavailableException e) {
      throw ErrorMapping.of(e);
    }
  }
}
