package dev.ashlar.gateway.operation;

import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.blob.ObjectWriter;
import dev.ashlar.gateway.auth.Authenticator.AuthenticatedRequest;
import dev.ashlar.gateway.auth.Authenticator.PayloadBody;
import dev.ashlar.gateway.http.HttpAnswer;
import dev.ashlar.gateway.s3.EtagList;
import dev.ashlar.gateway.s3.S3Exception;
import dev.ashlar.gateway.s3.S3Request;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.ChecksumAlgorithm;
import dev.ashlar.protocol.message.ChecksumValue;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.ObjectSummary;
import dev.ashlar.protocol.message.PutObject;
import io.netty.handler.codec.http.HttpHeaders;

/** Stores an object. */
final class PutObjectHandler {
  private final Backend backend;
  private final Buckets buckets;

  PutObjectHandler(Backend backend, Buckets buckets) {
    this.backend = backend;
    this.buckets = buckets;
  }

  HttpAnswer handle(S3Request.PutObject request, AuthenticatedRequest caller)
      throws S3Exception,
          MetadataUnavailableException,
          DataUnavailableException,
          InterruptedException {
    PayloadBody body = caller.body();
    long length = BodyIngest.requireLength(body);
    buckets.owned(request.bucket(), caller.owner());
    WriteConditions.check(
        backend.metadata(), request.precondition(), request.bucket(), request.key());
    BodyIngest.chooseChecksum(body, request.announced(), ChecksumAlgorithm.CHECKSUM_NONE);
    try (ObjectWriter writer = backend.store().newWriter(length)) {
      String etag = BodyIngest.copy(body, writer);
      ObjectSummary summary =
          ObjectSummary.newBuilder()
              .setSize(writer.length())
              .setEtag(etag)
              .setOwner(caller.owner())
              .setChecksum(body.checksum())
              .build();
      Faults.requireOk(
          writer.commit(
              blobs ->
                  Command.newBuilder()
                      .setPutObject(
                          PutObject.newBuilder()
                              .setBucket(request.bucket())
                              .setKey(request.key())
                              .setSummary(summary)
                              .setAttributes(request.attributes())
                              .addAllBlobs(blobs)
                              .setPrecondition(request.precondition()))));
      return stored(etag, body.checksum());
    }
  }

  private static HttpAnswer stored(String etag, ChecksumValue checksum) {
    HttpHeaders headers = Answers.headers();
    headers.set("ETag", EtagList.quote(etag));
    Answers.addChecksum(headers, checksum, true);
    return Answers.empty(200, headers);
  }
}
