package dev.ashlar.gateway.operation;

import dev.ashlar.gateway.http.HttpAnswer;
import dev.ashlar.gateway.s3.S3Exception;
import dev.ashlar.gateway.s3.S3Request;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.AbortUpload;
import dev.ashlar.protocol.message.Command;

/** Drops an upload and its parts. */
final class AbortMultipartUploadHandler {
  private final Backend backend;
  private final Buckets buckets;

  AbortMultipartUploadHandler(Backend backend, Buckets buckets) {
    this.backend = backend;
    this.buckets = buckets;
  }

  HttpAnswer handle(S3Request.AbortMultipartUpload request, String caller)
      throws S3Exception, MetadataUnavailableException {
    buckets.owned(request.bucket(), caller);
    AbortUpload abort =
        AbortUpload.newBuilder()
            .setBucket(request.bucket())
            .setKey(request.key())
            .setUploadId(request.uploadId())
            .build();
    Faults.requireOk(backend.metadata().submit(Command.newBuilder().setAbortUpload(abort)));
    return Answers.empty(204);
  }
}
