package dev.ashlar.gateway.s3;

import org.jspecify.annotations.Nullable;

/** Chooses among the requests with the parameter {@code tagging}. */
final class TaggingRequests {
  private TaggingRequests() {}

  /**
   * @param method GET, PUT or DELETE
   * @param key null: the tags of the bucket
   */
  static S3Request of(String method, String bucket, @Nullable String key) {
    return key == null ? ofBucket(method, bucket) : ofObject(method, bucket, key);
  }

  private static S3Request ofBucket(String method, String bucket) {
    return switch (method) {
      case "GET" -> new S3Request.GetBucketTagging(bucket);
      case "PUT" -> new S3Request.PutBucketTagging(bucket);
      default -> new S3Request.DeleteBucketTagging(bucket);
    };
  }

  private static S3Request ofObject(String method, String bucket, String key) {
    return switch (method) {
      case "GET" -> new S3Request.GetObjectTagging(bucket, key);
      case "PUT" -> new S3Request.PutObjectTagging(bucket, key);
      default -> new S3Request.DeleteObjectTagging(bucket, key);
    };
  }
}
