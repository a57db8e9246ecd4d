package dev.ashlar.gateway.operation;

import dev.ashlar.gateway.s3.EtagList;
import dev.ashlar.gateway.s3.S3Error;
import dev.ashlar.gateway.s3.S3Exception;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.ObjectRead;
import dev.ashlar.protocol.message.Precondition;
import java.util.Optional;

/**
 * Checks the conditions of a write before its bytes are taken in; apply checks them again when it
 * counts.
 */
final class WriteConditions {
  private WriteConditions() {}

  static void check(MetadataClient metadata, Precondition condition, String bucket, String key)
      throws S3Exception, MetadataUnavailableException {
    boolean ifMatch = !condition.getIfMatch().isEmpty();
    boolean ifNoneMatch = !condition.getIfNoneMatch().isEmpty();
    if (!ifMatch && !ifNoneMatch) {
      return;
    }
    check(metadata.object(bucket, key), condition, key);
  }

  /**
   * @param object what is there
   */
  static void check(Optional<ObjectRead> object, Precondition condition, String key)
      throws S3Exception {
    boolean ifMatch = !condition.getIfMatch().isEmpty();
    boolean ifNoneMatch = !condition.getIfNoneMatch().isEmpty();
    if (object.isEmpty()) {
      if (ifMatch) {
        throw Buckets.noSuchKey(key);
      }
      return;
    }
    String etag = object.get().object().getSummary().getEtag();
    boolean isMet =
        (!ifMatch || EtagList.matches(condition.getIfMatch(), etag))
            && (!ifNoneMatch || !EtagList.matches(condition.getIfNoneMatch(), etag));
    if (!isMet) {
      throw new S3Exception(S3Error.PRECONDITION_FAILED);
    }
  }
}
