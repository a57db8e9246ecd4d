package dev.ashlar.gateway.access;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import dev.ashlar.gateway.access.acl.Acl;
import dev.ashlar.protocol.message.BucketLoggingDocument;
import dev.ashlar.protocol.message.LogKeyFormat;
import org.jspecify.annotations.Nullable;

/**
 * Where the log of the requests to a bucket goes.
 *
 * @param bucket that gets the objects of the log
 * @param prefix of their keys
 * @param grants on them, beside full control for the owner of the bucket
 */
public record BucketLogging(String bucket, String prefix, KeyFormat keyFormat, Acl grants) {
  /** How keys of log objects continue behind the prefix. */
  public enum KeyFormat {
    /** As simple; the request did not say. */
    UNSPECIFIED(LogKeyFormat.LOG_KEY_UNSPECIFIED),

    /** The time of delivery. */
    SIMPLE(LogKeyFormat.LOG_KEY_SIMPLE),

    /** Account, region, bucket and the day of the requests; an object is of one day. */
    EVENT_TIME(LogKeyFormat.LOG_KEY_EVENT_TIME),

    /** Account, region, bucket and the time of delivery. */
    DELIVERY_TIME(LogKeyFormat.LOG_KEY_DELIVERY_TIME);

    private final LogKeyFormat stored;

    KeyFormat(LogKeyFormat stored) {
      this.stored = stored;
    }

    static KeyFormat of(LogKeyFormat stored) {
      for (KeyFormat each : values()) {
        if (each.stored == stored) {
          return each;
        }
      }
      return UNSPECIFIED;
    }
  }

  /** As it is stored. */
  public ByteString toDocument() {
    return BucketLoggingDocument.newBuilder()
        .setTargetBucket(bucket)
        .setPrefix(prefix)
        .setKeyFormat(keyFormat.stored)
        .setAcl(grants.grants().isEmpty() ? ByteString.EMPTY : grants.toDocument())
        .build()
        .toByteString();
  }

  /**
   * @param stored null: nothing is logged
   */
  static @Nullable BucketLogging of(@Nullable ByteString stored) {
    if (stored == null) {
      return null;
    }
    try {
      BucketLoggingDocument document = BucketLoggingDocument.parseFrom(stored);
      return new BucketLogging(
          document.getTargetBucket(),
          document.getPrefix(),
          KeyFormat.of(document.getKeyFormat()),
          document.getAcl().isEmpty() ? Acl.EMPTY : Acl.ofDocument(document.getAcl(), ""));
    } catch (InvalidProtocolBufferException e) {
      return null;
    }
  }
}
