package dev.ashlar.gateway.operation.shared;

import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.s3.Etags;
import dev.ashlar.gateway.s3.S3Request;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.ObjectRead;
import dev.ashlar.protocol.message.Precondition;
import java.util.Optional;

/**
 * Checks the conditions of a write before its bytes are taken in; apply checks them again when it
 * counts.
 */
public final class WriteConditions {
  private WriteConditions() {}

  public static void check(Backend backend, S3Request.KeyRequest request, Precondition condition)
      throws S3Exception, MetadataUnavailableException {
    if (!condition.getIfMatch().isEmpty() || !condition.getIfNoneMatch().isEmpty()) {
      check(backend.metadata().object(request.bucket(), request.key()), condition, request.key());
    }
  }

  /**
   * @param object what is there
   */
  public static void check(Optional<ObjectRead> object, Precondition condition, String key)
      throws S3Exception {
    boolean ifMatch = !condition.getIfMatch().isEmpty();
    boolean ifNoneMatch = !condition.getIfNoneMatch().isEmpty();
    if (object.isEmpty()) {
      if (ifMatch) {
        throw new S3Exception(S3Error.NO_SUCH_KEY).with("Key", key);
      }
      return;
    }
    String etag = object.get().object().getSummary().getEtag();
    boolean isMet =
        (!ifMatch || Etags.matches(condition.getIfMatch(), etag))
            && (!ifNoneMatch || !Etags.matches(condition.getIfNoneMatch(), etag));
    if (!isMet) {
      throw new S3Exception(S3Error.PRECONDITION_FAILED);
    }
  }
}
