package dev.ashlar.gateway.operation.multipart;

import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpAnswer;
import dev.ashlar.gateway.operation.shared.Answers;
import dev.ashlar.gateway.operation.shared.Backend;
import dev.ashlar.gateway.operation.shared.Buckets;
import dev.ashlar.gateway.operation.shared.ErrorMapping;
import dev.ashlar.gateway.s3.S3Request;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.AbortUpload;
import dev.ashlar.protocol.message.Command;

/** Drops an upload and its parts. */
public final class AbortMultipartUploadHandler {
  private final Backend backend;
  private final Buckets buckets;

  public AbortMultipartUploadHandler(Backend backend, Buckets buckets) {
    this.backend = backend;
    this.buckets = buckets;
  }

  public HttpAnswer handle(S3Request.AbortMultipartUpload request, String caller)
      throws S3Exception, MetadataUnavailableException {
    buckets.owned(request.bucket(), caller);
    AbortUpload abort =
        AbortUpload.newBuilder()
            .setBucket(request.bucket())
            .setKey(request.key())
            .setUploadId(request.uploadId())
            .build();
    ErrorMapping.requireOk(backend.metadata().submit(Command.newBuilder().setAbortUpload(abort)));
    return Answers.empty(204);
  }
}
