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
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Every operation Ashlar serves, its parameters parsed. Named like S3's API. */
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

  /** Reads the private ACL that everything has; of the bucket when the key is null. */
  record GetAcl(String bucket, @Nullable String key) implements S3Request {
    @Override
    public Need needs() {
      return Need.of(
          key == null ? "s3:GetBucketAcl" : "s3:GetObjectAcl", Resource.existing(bucket, key));
    }
  }

  /** Sets the ACL that everything has anyway; of the bucket when the key is null. */
  record PutCannedAcl(String bucket, @Nullable String key) implements S3Request {
    @Override
    public Need needs() {
      return Need.of(
          key == null ? "s3:PutBucketAcl" : "s3:PutObjectAcl", Resource.existing(bucket, key));
    }
  }

  /** Reads a feature that was never configured; of the bucket when the key is null. */
  record GetUnconfigured(String bucket, @Nullable String key, Subresource subresource)
      implements S3Request {
    @Override
    public Need needs() {
      return Need.of(subresource.readAction(), Resource.existing(bucket, key));
    }
  }

  record ListObjects(Listing listing, String marker) implements S3Request {
    @Override
    public Need needs() {
      return Need.of("s3:ListBucket", new Resource.Bucket(bucket()));
    }

    @Override
    public String bucket() {
      return listing.bucket();
    }
  }

  record ListObjectsV2(
      Listing listing, String startAfter, @Nullable String continuationToken, boolean fetchOwner)
      implements S3Request {
    @Override
    public Need needs() {
      return Need.of("s3:ListBucket", new Resource.Bucket(bucket()));
    }

    @Override
    public String bucket() {
      return listing.bucket();
    }
  }

  record ListObjectVersions(Listing listing, String keyMarker) implements S3Request {
    @Override
    public Need needs() {
      return Need.of("s3:ListBucketVersions", new Resource.Bucket(bucket()));
    }

    @Override
    public String bucket() {
      return listing.bucket();
    }
  }

  record ListMultipartUploads(Listing listing, String keyMarker, String uploadIdMarker)
      implements S3Request {
    @Override
    public Need needs() {
      return Need.of("s3:ListBucketMultipartUploads", new Resource.Bucket(bucket()));
    }

    @Override
    public String bucket() {
      return listing.bucket();
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
   * Adds bytes behind the end of an object, or creates it.
   *
   * @param attributes of the object if it is created
   * @param offset what the client takes for the object's size
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
   * Overwrites bytes of an object, from anywhere in it up to any place in it or behind its end.
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
   * @param checksum the algorithm the copy shall have, or NONE for that of the source
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

  /** Copies a range of an object, all of it when the range is null, into a part. */
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
   * @param objectSize what the client says all parts add up to, or -1
   * @param checksum what the client says the object's checksum is
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
   * What the listings share.
   *
   * @param max keys, versions or uploads per page, 0 to 1000
   * @param url whether names are to be percent-encoded
   */
  record Listing(String bucket, String prefix, String delimiter, int max, boolean url) {}

  /**
   * What GetObject and HeadObject share.
   *
   * @param partNumber 0 for none
   * @param checksum whether the stored checksum is wanted
   * @param overrides headers of the answer by lower-case name
   */
  record ReadOptions(
      Conditions conditions,
      @Nullable RangeSpec range,
      int partNumber,
      boolean checksum,
      Map<String, String> overrides) {}

  /**
   * An object to copy from and what is demanded of it.
   *
   * @param expectedOwner of its bucket, null for any
   */
  record CopySource(
      String bucket, String key, Conditions conditions, @Nullable String expectedOwner) {
    /** What the sender must be allowed to do with the source, beside the need of the request. */
    public Need needs() {
      return Need.of("s3:GetObject", new Resource.StoredObject(bucket, key));
    }
  }

  /** A checksum as the client wrote it. */
  record ExpectedChecksum(ChecksumAlgorithm algorithm, String text) {}

  /** The two ways to ask for an append; the answers speak the same. */
  enum AppendDialect {
    /** PutObject with x-amz-write-offset-bytes. */
    EXPRESS,
    /** PUT or POST with the parameters append and position. */
    RGW
  }

  /** What GetObjectAttributes can tell. */
  enum ObjectAttribute {
    ETAG("ETag"),
    CHECKSUM("Checksum"),
    OBJECT_PARTS("ObjectParts"),
    STORAGE_CLASS("StorageClass"),
    OBJECT_SIZE("ObjectSize");

    private final String text;

    ObjectAttribute(String text) {
      this.text = text;
    }

    String text() {
      return text;
    }
  }
}
