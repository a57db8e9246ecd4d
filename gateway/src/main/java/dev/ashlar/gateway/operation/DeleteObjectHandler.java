package dev.ashlar.gateway.operation;

import dev.ashlar.gateway.http.HttpAnswer;
import dev.ashlar.gateway.s3.S3Exception;
import dev.ashlar.gateway.s3.S3Request;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.DeleteObjects;

/** Deletes a key; one that is not there is deleted already. */
final class DeleteObjectHandler {
  private final Backend backend;
  private final Buckets buckets;

  DeleteObjectHandler(Backend backend, Buckets buckets) {
    this.backend = backend;
    this.buckets = buckets;
  }

  HttpAnswer handle(S3Request.DeleteObject request, String caller)
      throws S3Exception, MetadataUnavailableException {
    buckets.owned(request.bucket(), caller);
    WriteConditions.check(
        backend.metadata(), request.precondition(), request.bucket(), request.key());
    DeleteObjects delete =
        DeleteObjects.newBuilder()
            .setBucket(request.bucket())
            .addKeys(request.key())
            .setPrecondition(request.precondition())
            .build();
    Faults.requireOk(backend.metadata().submit(Command.newBuilder().setDeleteObjects(delete)));
    return Answers.empty(204);
  }
}
