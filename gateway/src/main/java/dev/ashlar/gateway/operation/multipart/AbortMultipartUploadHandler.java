package dev.ashlar.gateway.operation.multipart;

import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpAnswer;
import dev.ashlar.gateway.operation.shared.Answers;
import dev.ashlar.gateway.operation.shared.Backend;
import dev.ashlar.gateway.s3.S3Request;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.AbortUpload;
import dev.ashlar.protocol.message.Command;

/** Deletes an upload and its parts. */
public record AbortMultipartUploadHandler(Backend backend) {
  public HttpAnswer handle(S3Request.AbortMultipartUpload request)
      throws S3Exception, MetadataUnavailableException {
    AbortUpload abort =
        AbortUpload.newBuilder()
            .setBucket(request.bucket())
            .setKey(request.key())
            .setUploadId(request.uploadId())
            .build();
    backend.submit(Command.newBuilder().setAbortUpload(abort));
    return Answers.empty(204);
  }
}
