package dev.ashlar.gateway.operation.bucket;

import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpAnswer;
import dev.ashlar.gateway.operation.shared.Answers;
import dev.ashlar.gateway.operation.shared.Backend;
import dev.ashlar.gateway.operation.shared.ErrorMapping;
import dev.ashlar.gateway.s3.S3Request;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.UploadsQuery;
import dev.ashlar.protocol.message.AbortUpload;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.DeleteBucket;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.UploadRow;

/** Removes an empty bucket. */
public record DeleteBucketHandler(Backend backend) {
  private static final int UPLOADS_PAGE = 1000;

  public HttpAnswer handle(S3Request.DeleteBucket request)
      throws S3Exception, MetadataUnavailableException {
    CommandResult result = delete(request.bucket());
    while (result.getCode() == ResultCode.LIMIT_EXCEEDED) {
      abortSomeUploads(request.bucket());
      result = delete(request.bucket());
    }
    ErrorMapping.requireOk(result);
    return Answers.empty(204);
  }

  private CommandResult delete(String bucket) throws MetadataUnavailableException {
    DeleteBucket delete = DeleteBucket.newBuilder().setName(bucket).build();
    return backend.metadata().submit(Command.newBuilder().setDeleteBucket(delete));
  }

  private void abortSomeUploads(String bucket) throws MetadataUnavailableException {
    UploadsQuery query = new UploadsQuery(bucket, "", "", "", "", UPLOADS_PAGE);
    for (UploadRow upload : backend.metadata().uploads(query).uploads()) {
      AbortUpload.Builder abort =
          AbortUpload.newBuilder()
              .setBucket(bucket)
              .setKey(upload.getKey())
              .setUploadId(upload.getUploadId());
      backend.metadata().submit(Command.newBuilder().setAbortUpload(abort));
    }
  }
}
