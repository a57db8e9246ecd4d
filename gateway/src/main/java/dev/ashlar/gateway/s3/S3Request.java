package dev.ashlar.gateway.s3;

import dev.ashlar.gateway.access.Need;
import dev.ashlar.gateway.access.Need.Resource;
import dev.ashlar.gateway.access.acl.AclRequest;
import dev.ashlar.gateway.access.policy.decision.ObjectOwnership;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.message.ChecksumAlgorithm;
import dev.ashlar.protocol.message.ChecksumType;
import dev.ashlar.protocol.message.ObjectAttributes;
import dev.ashlar.protocol.message.Precondition;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A parsed request. There is one record per operation, named as in S3's API. */
public sealed interface S3Request {
  /** The bucket that the request is about; null for none. */
  @Nullable String bucket();

  /** What the sender must be allowed to do; decided before the operation runs. */
  default Need needs() {
    return switch (this) {
      case ListBuckets list -> Need.of("s3:ListAllMyBuckets", new Resource.Service());
      case CreateBucket create ->
          new Need(create.actions(), new Resource.NewBucket(create.bucket()));
      case BucketAccessRequest request -> onBucket(request.action(), request.bucket());
      case HeadBucket head -> onBucket("s3:ListBucket", head.bucket());
      case DeleteBucket delete -> onBucket("s3:DeleteBucket", delete.bucket());
      case GetBucketLocation get -> onBucket("s3:GetBucketLocation", get.bucket());
      case ListObjects list -> onBucket("s3:ListBucket", list.bucket());
      case ListObjectsV2 list -> onBucket("s3:ListBucket", list.bucket());
      case ListObjectVersions list -> onBucket("s3:ListBucketVersions", list.bucket());
      case ListMultipartUploads list -> onBucket("s3:ListBucketMultipartUploads", list.bucket());
      case DeleteObjects delete -> Need.of("s3:DeleteObject", new Resource.KeysOf(delete.bucket()));
      case GetAcl get ->
          Need.of(
              get.key() == null ? "s3:GetBucketAcl" : "s3:GetObjectAcl",
              Resource.existing(get.bucket(), get.key()));
      case PutAcl put ->
          Need.of(
              put.key() == null ? "s3:PutBucketAcl" : "s3:PutObjectAcl",
              Resource.existing(put.bucket(), put.key()));
      case GetUnconfigured get ->
          Need.of(get.feature().readAction(), Resource.existing(get.bucket(), get.key()));
      case PutObject put -> onNewObject(put.acl(), put);
      case AppendObject append -> onKey("s3:PutObject", append);
      case CopyObject copy -> onNewObject(copy.acl(), copy);
      case DeleteObject delete -> onKey("s3:DeleteObject", delete);
      case CreateMultipartUpload create -> onNewObject(create.acl(), create);
      case UploadPart part -> onKey("s3:PutObject", part);
      case UploadPartCopy part -> onKey("s3:PutObject", part);
      case CompleteMultipartUpload complete -> onKey("s3:PutObject", complete);
      case AbortMultipartUpload abort -> onKey("s3:AbortMultipartUpload", abort);
      case ListParts list -> onKey("s3:ListMultipartUploadParts", list);
      case GetObject get -> onStored(List.of("s3:GetObject"), get);
      case HeadObject head -> onStored(List.of("s3:GetObject"), head);
      case GetObjectAttributes get ->
          onStored(List.of("s3:GetObject", "s3:GetObjectAttributes"), get);
      case PatchObject patch -> onStored(List.of("s3:GetObject", "s3:PutObject"), patch);
    };
  }

  private static Need onBucket(String action, String bucket) {
    return Need.of(action, new Resource.Bucket(bucket));
  }

  private static Need onKey(String action, KeyRequest request) {
    return Need.of(action, new Resource.Key(request.bucket(), request.key()));
  }

  /** Giving an ACL to what is written needs a right of its own. */
  private static Need onNewObject(AclRequest acl, KeyRequest request) {
    return acl.isGiven()
        ? new Need(
            List.of("s3:PutObject", "s3:PutObjectAcl"),
            new Resource.Key(request.bucket(), request.key()))
        : onKey("s3:PutObject", request);
  }

  private static Need onStored(List<String> actions, KeyRequest request) {
    return new Need(actions, new Resource.StoredObject(request.bucket(), request.key()));
  }

  /**
   * Refuses what is wrong with the request whatever is stored.
   *
   * @param bodyLength of the payload; -1 when unknown
   */
  default void requireValid(long bodyLength) throws S3Exception {}

  /** A request about one key, whether or not an object is stored there. */
  sealed interface KeyRequest extends S3Request {
    @Override
    String bucket();

    String key();
  }

  /** A request whose body becomes a part of an object. */
  sealed interface DataRequest extends KeyRequest {
    @Override
    default void requireValid(long bodyLength) throws S3Exception {
      SizeLimits.requireUploadable(bodyLength);
    }
  }

  /** A request about a multipart upload. */
  sealed interface UploadRequest extends KeyRequest {
    String uploadId();
  }

  /** A request that lists what is in a bucket. */
  sealed interface ListingRequest extends S3Request {
    Listing listing();

    @Override
    default String bucket() {
      return listing().bucket();
    }
  }

  /**
   * Lists the caller's buckets.
   *
   * @param region only those of this region; empty for all
   */
  record ListBuckets(String prefix, String region, String continuationToken, int maxBuckets)
      implements S3Request {
    @Override
    public @Nullable String bucket() {
      return null;
    }
  }

  /**
   * Creates.
   *
   * @param ownership null: as the server is configured
   */
  record CreateBucket(String bucket, AclRequest acl, @Nullable ObjectOwnership ownership)
      implements S3Request {
    private List<String> actions() {
      List<String> actions = new ArrayList<>(List.of("s3:CreateBucket"));
      if (acl.isGiven()) {
        actions.add("s3:PutBucketAcl");
      }
      if (ownership != null) {
        actions.add("s3:PutBucketOwnershipControls");
      }
      return actions;
    }
  }

  record HeadBucket(String bucket) implements S3Request {}

  record DeleteBucket(String bucket) implements S3Request {}

  record GetBucketLocation(String bucket) implements S3Request {}

  /** Reads the ACL; of the bucket if the key is null. */
  record GetAcl(String bucket, @Nullable String key) implements S3Request {}

  /**
   * Replaces the ACL; of the bucket if the key is null.
   *
   * @param acl None: the body is the ACL
   */
  record PutAcl(String bucket, @Nullable String key, AclRequest acl) implements S3Request {}

  /** A request about a document that decides about access to a bucket. */
  sealed interface BucketAccessRequest extends S3Request {
    @Override
    String bucket();

    /** What it needs. To remove a document is to put an empty one. */
    default String action() {
      return switch (this) {
        case GetBucketPolicy get -> "s3:GetBucketPolicy";
        case PutBucketPolicy put -> "s3:PutBucketPolicy";
        case DeleteBucketPolicy delete -> "s3:DeleteBucketPolicy";
        case GetBucketPolicyStatus get -> "s3:GetBucketPolicyStatus";
        case GetPublicAccessBlock get -> "s3:GetBucketPublicAccessBlock";
        case PutPublicAccessBlock put -> "s3:PutBucketPublicAccessBlock";
        case DeletePublicAccessBlock delete -> "s3:PutBucketPublicAccessBlock";
        case GetBucketOwnershipControls get -> "s3:GetBucketOwnershipControls";
        case PutBucketOwnershipControls put -> "s3:PutBucketOwnershipControls";
        case DeleteBucketOwnershipControls delete -> "s3:PutBucketOwnershipControls";
      };
    }
  }

  record GetBucketPolicy(String bucket) implements BucketAccessRequest {}

  /**
   * Replaces the policy.
   *
   * @param removesSelf the sender confirms that the policy may take the policy away from the root
   *     user of the bucket's owner
   */
  record PutBucketPolicy(String bucket, boolean removesSelf) implements BucketAccessRequest {}

  record DeleteBucketPolicy(String bucket) implements BucketAccessRequest {}

  record GetBucketPolicyStatus(String bucket) implements BucketAccessRequest {}

  record GetPublicAccessBlock(String bucket) implements BucketAccessRequest {}

  record PutPublicAccessBlock(String bucket) implements BucketAccessRequest {}

  record DeletePublicAccessBlock(String bucket) implements BucketAccessRequest {}

  record GetBucketOwnershipControls(String bucket) implements BucketAccessRequest {}

  record PutBucketOwnershipControls(String bucket) implements BucketAccessRequest {}

  record DeleteBucketOwnershipControls(String bucket) implements BucketAccessRequest {}

  /** Reads a feature that was never configured; of the bucket if the key is null. */
  record GetUnconfigured(String bucket, @Nullable String key, Subresource.Unconfigured feature)
      implements S3Request {}

  record ListObjects(Listing listing, String marker) implements ListingRequest {}

  record ListObjectsV2(
      Listing listing, String startAfter, @Nullable String continuationToken, boolean fetchOwner)
      implements ListingRequest {}

  record ListObjectVersions(Listing listing, String keyMarker) implements ListingRequest {}

  record ListMultipartUploads(Listing listing, String keyMarker, String uploadIdMarker)
      implements ListingRequest {}

  record DeleteObjects(String bucket, boolean hasDigest) implements S3Request {
    @Override
    public void requireValid(long bodyLength) throws S3Exception {
      if (!hasDigest) {
        throw S3Exception.invalidRequest("Missing required header for this request: Content-MD5");
      }
    }
  }

  record PutObject(
      String bucket,
      String key,
      ObjectAttributes attributes,
      Precondition precondition,
      ChecksumAlgorithm announced,
      AclRequest acl)
      implements DataRequest {}

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
      implements DataRequest {}

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
      implements DataRequest {}

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
      ChecksumAlgorithm checksum,
      AclRequest acl)
      implements KeyRequest {
    @Override
    public void requireValid(long bodyLength) throws S3Exception {
      boolean isSelf = bucket.equals(source.bucket()) && key.equals(source.key());
      if (isSelf && attributes == null) {
        throw S3Exception.invalidRequest(
            "This copy request is illegal because it is trying to copy an object to itself without"
                + " changing the object's metadata, storage class, website redirect location or"
                + " encryption attributes.");
      }
    }
  }

  record GetObject(String bucket, String key, ReadOptions options) implements KeyRequest {}

  record HeadObject(String bucket, String key, ReadOptions options) implements KeyRequest {}

  record GetObjectAttributes(
      String bucket,
      String key,
      Conditions conditions,
      Set<ObjectAttribute> attributes,
      int partNumberMarker,
      int maxParts)
      implements KeyRequest {}

  record DeleteObject(String bucket, String key, Precondition precondition) implements KeyRequest {}

  record CreateMultipartUpload(
      String bucket,
      String key,
      ObjectAttributes attributes,
      ChecksumAlgorithm checksum,
      ChecksumType checksumType,
      AclRequest acl)
      implements KeyRequest {}

  record UploadPart(
      String bucket, String key, String uploadId, int partNumber, ChecksumAlgorithm announced)
      implements DataRequest, UploadRequest {}

  /** Copies a range of an object, or all of it if the range is null, into a part. */
  record UploadPartCopy(
      String bucket,
      String key,
      String uploadId,
      int partNumber,
      CopySource source,
      @Nullable ByteRange range)
      implements UploadRequest {}

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
      implements UploadRequest {}

  record AbortMultipartUpload(String bucket, String key, String uploadId)
      implements UploadRequest {}

  record ListParts(
      String bucket, String key, String uploadId, int partNumberMarker, int maxParts, boolean url)
      implements UploadRequest {}

  /**
   * The parameters that listings share.
   *
   * @param max keys, versions or uploads per page, 0 to 1000
   * @param url whether names are to be percent-encoded
   */
  record Listing(String bucket, String prefix, String delimiter, int max, boolean url) {}

  /**
   * The parameters that GetObject and HeadObject share.
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

  /** The attributes that GetObjectAttributes can return. */
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

  /**
   * An object to copy from, and the conditions that it must meet.
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

  /** The two ways to ask for an append; the answer uses the same. */
  enum AppendDialect {
    /** PutObject with x-amz-write-offset-bytes. */
    EXPRESS,
    /** PUT or POST with the parameters append and position. */
    RGW
  }
}
