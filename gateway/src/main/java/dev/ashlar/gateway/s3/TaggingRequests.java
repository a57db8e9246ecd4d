package dev.ashlar.gateway.s3;

import dev.ashlar.protocol.message.VersionRef;
import org.jspecify.annotations.Nullable;

/** Chooses among the requests with the parameter {@code tagging}. */
final class TaggingRequests {
  private TaggingRequests() {}

  /**
   * @param method GET, PUT or DELETE
   * @param key null: the tags of the bucket
   * @param version of the object; null: the present one
   */
  static S3Request of(
      String method, String bucket, @Nullable String key, @Nullable VersionRef version) {
    return key == null ? ofBucket(method, bucket) : ofObject(method, bucket, key, version);
  }

  private static S3Request ofBucket(String method, String bucket) {
    return switch (method) {
      case "GET" -> new S3Request.GetBucketTagging(bucket);
      case "PUT" -> new S3Request.PutBucketTagging(bucket);
      default -> new S3Request.DeleteBucketTagging(bucket);
    };
  }

  private static S3Request ofObject(
      String method, String bucket, String key, @Nullable VersionRef version) {
    return switch (method) {
      case "GET" -> new S3Request.GetObjectTagging(bucket, key, version);
      case "PUT" -> new S3Request.PutObjectTagging(bucket, key, version);
      default -> new S3Request.DeleteObjectTagging(bucket, key, version);
    };
  }
}
