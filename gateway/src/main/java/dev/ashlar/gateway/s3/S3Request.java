package dev.ashlar.gateway.s3;

import dev.ashlar.gateway.access.Need;
import dev.ashlar.gateway.access.Resource;
import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.message.ChecksumAlgorithm;
import dev.ashlar.protocol.message.ChecksumType;
import dev.ashlar.protocol.message.ObjectAttributes;
import dev.ashlar.protocol.message.Precondition;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A parsed request. There is one record per operation, named as in S3's API. */
public sealed interface S3Request {
  /** The bucket that the request is about; null for none. */
  @Nullable String bucket();

  /** What the sender must be allowed to do; decided before the operation runs. */
  Need needs();

  /**
   * Refuses what is wrong with the request whatever is stored.
   *
   * @param bodyLength of the payload; -1 when unknown
   */
  default void requireValid(long bodyLength) throws S3Exception {}

  /**
   * Lists the caller's buckets.
   *
   * @param region only those of this region; empty for all
   */
  record ListBuckets(String prefix, String region, String continuationToken, int maxBuckets)
      implements S3Request {
    @Override
    public Need needs() {
      return Need.of("s3:ListAllMyBuckets", new Resource.Service());
    }

    @Override
    public @Nullable String bucket() {
      return null;
    }
  }

  record CreateBucket(String bucket) implements S3Request {
    @Override
    public Need needs() {
      return Need.of("s3:CreateBucket", new Resource.NewBucket(bucket));
    }
  }

  record HeadBucket(String bucket) implements S3Request {
    @Override
    public Need needs() {
      return Need.of("s3:ListBucket", new Resource.Bucket(bucket()));
    }
  }

  record DeleteBucket(String bucket) implements S3Request {
    @Override
    public Need needs() {
      return Need.of("s3:DeleteBucket", new Resource.Bucket(bucket()));
    }
  }

  record GetBucketLocation(String bucket) implements S3Request {
    @Override
    public Need needs() {
      return Need.of("s3:GetBucketLocation", new Resource.Bucket(bucket()));
    }
  }

  /** Reads the ACL, which is always private; of the bucket if the key is null. */
  record GetAcl(String bucket, @Nullable String key) implements S3Request {
    @Override
    public Need needs() {
      return Need.of(
          key == null ? "s3:GetBucketAcl" : "s3:GetObjectAcl", Resource.existing(bucket, key));
    }
  }

  /** Sets a canned ACL that changes nothing; of the bucket if the key is null. */
  record PutCannedAcl(String bucket, @Nullable String key) implements S3Request {
    @Override
    public Need needs() {
      return Need.of(
          key == null ? "s3:PutBucketAcl" : "s3:PutObjectAcl", Resource.existing(bucket, key));
    }
  }

  /** Reads a feature that was never configured; of the bucket if the key is null. */
  record GetUnconfigured(String bucket, @Nullable String key, Subresource subresource)
      implements S3Request {
    @Override
    public Need needs() {
      return Need.of(subresource.readAction(), Resource.existing(bucket, key));
    }
  }

  /** A request that lists what is in a bucket. */
  sealed interface ListingRequest extends S3Request {
    Listing listing();

    @Override
    default String bucket() {
      return listing().bucket();
    }
  }

  record ListObjects(Listing listing, String marker) implements ListingRequest {
    @Override
    public Need needs() {
      return Need.of("s3:ListBucket", new Resource.Bucket(bucket()));
    }
  }

  record ListObjectsV2(
      Listing listing, String startAfter, @Nullable String continuationToken, boolean fetchOwner)
      implements ListingRequest {
    @Override
    public Need needs() {
      return Need.of("s3:ListBucket", new Resource.Bucket(bucket()));
    }
  }

  record ListObjectVersions(Listing listing, String keyMarker) implements ListingRequest {
    @Override
    public Need needs() {
      return Need.of("s3:ListBucketVersions", new Resource.Bucket(bucket()));
    }
  }

  record ListMultipartUploads(Listing listing, String keyMarker, String uploadIdMarker)
      implements ListingRequest {
    @Override
    public Need needs() {
      return Need.of("s3:ListBucketMultipartUploads", new Resource.Bucket(bucket()));
    }
  }

  record DeleteObjects(String bucket, boolean hasDigest) implements S3Request {
    @Override
    public Need needs() {
      return Need.of("s3:DeleteObject", new Resource.Bucket(bucket()));
    }

    @Override
    public void requireValid(long bodyLength) throws S3Exception {
      if (!hasDigest) {
        throw new S3Exception(
            S3Error.INVALID_REQUEST, "Missing required header for this request: Content-MD5");
      }
    }
  }

  record PutObject(
      String bucket,
      String key,
      ObjectAttributes attributes,
      Precondition precondition,
      ChecksumAlgorithm announced)
      implements S3Request {
    @Override
    public Need needs() {
      return Need.of("s3:PutObject", new Resource.Key(bucket, key));
    }

    @Override
    public void requireValid(long bodyLength) throws S3Exception {
      SizeLimits.requireUploadable(bodyLength);
    }
  }

  /**
   * Appends bytes to an object, or creates it.
   *
   * @param attributes of the object if it is created
   * @param offset the size of the object that the client expects
   */
  record AppendObject(
      String bucket,
      String key,
      AppendDialect dialect,
      long offset,
      ObjectAttributes attributes,
      Precondition precondition,
      ChecksumAlgorithm announced)
      implements S3Request {
    @Override
    public Need needs() {
      return Need.of("s3:PutObject", new Resource.Key(bucket, key));
    }

    @Override
    public void requireValid(long bodyLength) throws S3Exception {
      SizeLimits.requireUploadable(bodyLength);
    }
  }

  /**
   * Overwrites a range of an object, which may extend behind its end.
   *
   * @param unmodifiedSince seconds since 1970, or -1
   */
  record PatchObject(
      String bucket,
      String key,
      PatchRange range,
      Precondition precondition,
      long unmodifiedSince,
      ChecksumAlgorithm announced)
      implements S3Request {
    @Override
    public Need needs() {
      return new Need(
          List.of("s3:GetObject", "s3:PutObject"), new Resource.StoredObject(bucket, key));
    }

    @Override
    public void requireValid(long bodyLength) throws S3Exception {
      SizeLimits.requireUploadable(bodyLength);
    }
  }

  /**
   * Copies.
   *
   * @param attributes null to keep those of the source
   * @param checksum algorithm for the copy, or NONE for that of the source
   */
  record CopyObject(
      String bucket,
      String key,
      CopySource source,
      @Nullable ObjectAttributes attributes,
      Precondition precondition,
      ChecksumAlgorithm checksum)
      implements S3Request {
    @Override
    public Need needs() {
      return Need.of("s3:PutObject", new Resource.Key(bucket, key));
    }

    @Override
    public void requireValid(long bodyLength) throws S3Exception {
      boolean isSelf = bucket.equals(source.bucket()) && key.equals(source.key());
      if (isSelf && attributes == null) {
        throw new S3Exception(
            S3Error.INVALID_REQUEST,
            "This copy request is illegal because it is trying to copy an object to itself without"
                + " changing the object's metadata, storage class, website redirect location or"
                + " encryption attributes.");
      }
    }
  }

  record GetObject(String bucket, String key, ReadOptions options) implements S3Request {
    @Override
    public Need needs() {
      return Need.of("s3:GetObject", new Resource.StoredObject(bucket, key));
    }
  }

  record HeadObject(String bucket, String key, ReadOptions options) implements S3Request {
    @Override
    public Need needs() {
      return Need.of("s3:GetObject", new Resource.StoredObject(bucket, key));
    }
  }

  record GetObjectAttributes(
      String bucket,
      String key,
      Conditions conditions,
      Set<ObjectAttribute> attributes,
      int partNumberMarker,
      int maxParts)
      implements S3Request {
    @Override
    public Need needs() {
      return new Need(
          List.of("s3:GetObject", "s3:GetObjectAttributes"),
          new Resource.StoredObject(bucket, key));
    }
  }

  record DeleteObject(String bucket, String key, Precondition precondition) implements S3Request {
    @Override
    public Need needs() {
      return Need.of("s3:DeleteObject", new Resource.Key(bucket, key));
    }
  }

  record CreateMultipartUpload(
      String bucket,
      String key,
      ObjectAttributes attributes,
      ChecksumAlgorithm checksum,
      ChecksumType checksumType)
      implements S3Request {
    @Override
    public Need needs() {
      return Need.of("s3:PutObject", new Resource.Key(bucket, key));
    }
  }

  record UploadPart(
      String bucket, String key, String uploadId, int partNumber, ChecksumAlgorithm announced)
      implements S3Request {
    @Override
    public Need needs() {
      return Need.of("s3:PutObject", new Resource.Key(bucket, key));
    }

    @Override
    public void requireValid(long bodyLength) throws S3Exception {
      SizeLimits.requireUploadable(bodyLength);
    }
  }

  /** Copies a range of an object, or all of it if the range is null, into a part. */
  record UploadPartCopy(
      String bucket,
      String key,
      String uploadId,
      int partNumber,
      CopySource source,
      @Nullable ByteRange range)
      implements S3Request {
    @Override
    public Need needs() {
      return Need.of("s3:PutObject", new Resource.Key(bucket, key));
    }
  }

  /**
   * Completes.
   *
   * @param objectSize total size of the parts according to the client, or -1
   * @param checksum checksum of the object according to the client
   */
  record CompleteMultipartUpload(
      String bucket,
      String key,
      String uploadId,
      Precondition precondition,
      long objectSize,
      @Nullable ExpectedChecksum checksum,
      @Nullable ChecksumType checksumType)
      implements S3Request {
    @Override
    public Need needs() {
      return Need.of("s3:PutObject", new Resource.Key(bucket, key));
    }
  }

  record AbortMultipartUpload(String bucket, String key, String uploadId) implements S3Request {
    @Override
    public Need needs() {
      return Need.of("s3:AbortMultipartUpload", new Resource.Key(bucket, key));
    }
  }

  record ListParts(
      String bucket, String key, String uploadId, int partNumberMarker, int maxParts, boolean url)
      implements S3Request {
    @Override
    public Need needs() {
      return Need.of("s3:ListMultipartUploadParts", new Resource.Key(bucket, key));
    }
  }

  /**
   * The parameters that listings share.
   *
   * @param max keys, versions or uploads per page, 0 to 1000
   * @param url whether names are to be percent-encoded
   */
  record Listing(String bucket, String prefix, String delimiter, int max, boolean url) {}

  /** A checksum as the client wrote it. */
  record ExpectedChecksum(ChecksumAlgorithm algorithm, String text) {}

  /** The two ways to ask for an append; the answer uses the same. */
  enum AppendDialect {
    /** PutObject with x-amz-write-offset-bytes. */
    EXPRESS,
    /** PUT or POST with the parameters append and position. */
    RGW
  }
}
