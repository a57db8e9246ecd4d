package dev.ashlar.gateway.operation.object;

import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpAnswer;
import dev.ashlar.gateway.operation.shared.Answers;
import dev.ashlar.gateway.operation.shared.Backend;
import dev.ashlar.gateway.operation.shared.WriteConditions;
import dev.ashlar.gateway.s3.S3Request;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.DeleteObjects;

/** Deletes a key. A missing key counts as deleted. */
public record DeleteObjectHandler(Backend backend) {
  public HttpAnswer handle(S3Request.DeleteObject request)
      throws S3Exception, MetadataUnavailableException {
    WriteConditions.check(backend, request, request.precondition());
    DeleteObjects delete =
        DeleteObjects.newBuilder()
            .setBucket(request.bucket())
            .addKeys(request.key())
            .setPrecondition(request.precondition())
            .build();
    backend.submit(Command.newBuilder().setDeleteObjects(delete));
    return Answers.empty(204);
  }
}
