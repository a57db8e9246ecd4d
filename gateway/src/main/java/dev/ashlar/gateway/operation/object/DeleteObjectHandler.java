package dev.ashlar.gateway.operation.object;

import dev.ashlar.gateway.access.AccessControl.Permit;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpAnswer;
import dev.ashlar.gateway.operation.shared.Answers;
import dev.ashlar.gateway.operation.shared.Backend;
import dev.ashlar.gateway.operation.shared.ErrorMapping;
import dev.ashlar.gateway.operation.shared.WriteConditions;
import dev.ashlar.gateway.s3.DeleteConditions;
import dev.ashlar.gateway.s3.S3Request;
import dev.ashlar.gateway.version.VersionId;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.DeleteObjects;
import dev.ashlar.protocol.message.DeleteResult;
import dev.ashlar.protocol.message.DeleteTarget;
import dev.ashlar.protocol.message.VersionRef;
import io.netty.handler.codec.http.HttpHeaders;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Deletes a key, or one version of it. What is not there counts as deleted. */
public record DeleteObjectHandler(Backend backend) {
  public HttpAnswer handle(S3Request.DeleteObject request, Permit permit)
      throws S3Exception, MetadataUnavailableException {
    WriteConditions.check(backend, request, request.precondition());
    boolean areKept = VersionId.areKept(permit.bucket());
    // Older metadata knows these conditions of targets only, or not at all.
    boolean isPlain = !DeleteConditions.areIn(request.precondition());
    if (!areKept && request.version() == null && isPlain) {
      return deleteOnly(request);
    }
    DeleteTarget.Builder target =
        DeleteTarget.newBuilder().setKey(request.key()).setPrecondition(request.precondition());
    if (request.version() != null) {
      target.setVersion(request.version()).setBypassGovernance(request.bypassesGovernance());
    }
    List<DeleteResult> results = new ArrayList<>(1);
    new Deletions(backend, request.bucket()).delete(List.of(target.build()), areKept, results);
    DeleteResult result = results.getFirst();
    ErrorMapping.requireOk(result.getCode());
    return Answers.empty(204, headers(request.version(), result));
  }

  /** Deletes the only version that a key has without versioning. */
  private HttpAnswer deleteOnly(S3Request.DeleteObject request)
      throws S3Exception, MetadataUnavailableException {
    DeleteObjects delete =
        DeleteObjects.newBuilder()
            .setBucket(request.bucket())
            .addKeys(request.key())
            .setPrecondition(request.precondition())
            .build();
    backend.submit(backend.command().setDeleteObjects(delete));
    return Answers.empty(204);
  }

  private static HttpHeaders headers(@Nullable VersionRef version, DeleteResult result) {
    HttpHeaders headers = Answers.headers();
    if (version != null) {
      headers.set(VersionId.HEADER, VersionId.of(version));
    } else if (result.getVersion() != 0) {
      headers.set(VersionId.HEADER, VersionId.of(result.getVersion(), result.getVersioned()));
    }
    if (result.getDeleteMarker()) {
      headers.set(VersionId.DELETE_MARKER_HEADER, "true");
    }
    return headers;
  }
}
