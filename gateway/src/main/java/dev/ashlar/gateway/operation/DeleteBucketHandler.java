package dev.ashlar.gateway.operation;

import dev.ashlar.gateway.http.HttpAnswer;
import dev.ashlar.gateway.s3.S3Exception;
import dev.ashlar.gateway.s3.S3Request;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.DeleteBucket;

/** Removes an empty bucket. */
final class DeleteBucketHandler {
  private final Backend backend;
  private final Buckets buckets;

  DeleteBucketHandler(Backend backend, Buckets buckets) {
    this.backend = backend;
    this.buckets = buckets;
  }

  HttpAnswer handle(S3Request.DeleteBucket request, String caller)
      throws S3Exception, MetadataUnavailableException {
    buckets.owned(request.bucket(), caller);
    DeleteBucket delete = DeleteBucket.newBuilder().setName(request.bucket()).build();
    Faults.requireOk(backend.metadata().submit(Command.newBuilder().setDeleteBucket(delete)));
    return Answers.empty(204);
  }
}
