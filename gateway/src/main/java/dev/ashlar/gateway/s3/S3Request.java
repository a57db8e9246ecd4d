package dev.ashlar.gateway.s3;

import dev.ashlar.gateway.access.Need;
import dev.ashlar.gateway.access.Need.Resource;
import dev.ashlar.gateway.access.VersionActions;
import dev.ashlar.gateway.access.acl.AclRequest;
import dev.ashlar.gateway.access.policy.decision.ObjectOwnership;
import dev.ashlar.gateway.encryption.CustomerFields;
import dev.ashlar.gateway.encryption.EncryptionFields;
import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.message.ChecksumAlgorithm;
import dev.ashlar.protocol.message.ChecksumType;
import dev.ashlar.protocol.message.ObjectAttributes;
import dev.ashlar.protocol.message.Precondition;
import dev.ashlar.protocol.message.VersionRef;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A parsed request. There is one record per operation, named as in S3's API. */
public sealed interface S3Request {
  String BYPASS_GOVERNANCE = "s3:BypassGovernanceRetention";

  /** Of the longest key, in UTF-8. */
  int KEY_BYTES_MAX = 1024;

  /** Whether a key is longer than any in S3. */
  static boolean isTooLong(String key) {
    // A char is at most three bytes.
    return key.length() * 3 > KEY_BYTES_MAX
        && key.getBytes(StandardCharsets.UTF_8).length > KEY_BYTES_MAX;
  }

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
      case GetBucketVersioning get -> onBucket("s3:GetBucketVersioning", get.bucket());
      case PutBucketVersioning put -> onBucket("s3:PutBucketVersioning", put.bucket());
      case ListObjects list -> onBucket("s3:ListBucket", list.bucket());
      case ListObjectsV2 list -> onBucket("s3:ListBucket", list.bucket());
      case ListObjectVersions list -> onBucket("s3:ListBucketVersions", list.bucket());
      case ListMultipartUploads list -> onBucket("s3:ListBucketMultipartUploads", list.bucket());
      case DeleteObjects delete -> Need.of("s3:DeleteObject", new Resource.KeysOf(delete.bucket()));
      case GetAcl get ->
          Need.ofVersion(
              get.key() == null ? "s3:GetBucketAcl" : "s3:GetObjectAcl",
              Resource.existing(get.bucket(), get.key(), get.version()));
      case PutAcl put ->
          Need.ofVersion(
              put.key() == null ? "s3:PutBucketAcl" : "s3:PutObjectAcl",
              Resource.existing(put.bucket(), put.key(), put.version()));
      case GetBucketRequestPayment get -> onBucket("s3:GetBucketRequestPayment", get.bucket());
      case PutBucketRequestPayment put -> onBucket("s3:PutBucketRequestPayment", put.bucket());
      case GetBucketLogging get -> onBucket("s3:GetBucketLogging", get.bucket());
      case PutBucketLogging put -> onBucket("s3:PutBucketLogging", put.bucket());
      case GetBucketNotificationConfiguration get ->
          onBucket("s3:GetBucketNotification", get.bucket());
      case PutBucketNotificationConfiguration put ->
          onBucket("s3:PutBucketNotification", put.bucket());
      case GetBucketWebsite get -> onBucket("s3:GetBucketWebsite", get.bucket());
      case PutBucketWebsite put -> onBucket("s3:PutBucketWebsite", put.bucket());
      case DeleteBucketWebsite delete -> onBucket("s3:DeleteBucketWebsite", delete.bucket());
      case GetBucketTagging get -> onBucket("s3:GetBucketTagging", get.bucket());
      case PutBucketTagging put -> onBucket("s3:PutBucketTagging", put.bucket());
      case DeleteBucketTagging delete -> onBucket("s3:PutBucketTagging", delete.bucket());
      case GetBucketEncryption get -> onBucket("s3:GetEncryptionConfiguration", get.bucket());
      case PutBucketEncryption put -> onBucket("s3:PutEncryptionConfiguration", put.bucket());
      case DeleteBucketEncryption delete ->
          onBucket("s3:PutEncryptionConfiguration", delete.bucket());
      case GetBucketCors get -> onBucket("s3:GetBucketCORS", get.bucket());
      case PutBucketCors put -> onBucket("s3:PutBucketCORS", put.bucket());
      case DeleteBucketCors delete -> onBucket("s3:PutBucketCORS", delete.bucket());
      case GetBucketLifecycleConfiguration get ->
          onBucket("s3:GetLifecycleConfiguration", get.bucket());
      case PutBucketLifecycleConfiguration put ->
          onBucket("s3:PutLifecycleConfiguration", put.bucket());
      case DeleteBucketLifecycle delete ->
          onBucket("s3:PutLifecycleConfiguration", delete.bucket());
      case GetObjectTagging get -> onStored(List.of("s3:GetObjectTagging"), get, get.version());
      case PutObjectTagging put ->
          new Need(put.needsOfObject().actions(), new Resource.KeysOf(put.bucket()));
      case DeleteObjectTagging delete ->
          onStored(List.of("s3:DeleteObjectTagging"), delete, delete.version());
      case GetObjectLockConfiguration get ->
          onBucket("s3:GetBucketObjectLockConfiguration", get.bucket());
      case PutObjectLockConfiguration put ->
          onBucket("s3:PutBucketObjectLockConfiguration", put.bucket());
      case GetObjectRetention get -> onStored(List.of("s3:GetObjectRetention"), get, get.version());
      case PutObjectRetention put -> new Need(put.actions(), new Resource.KeysOf(put.bucket()));
      case GetObjectLegalHold get -> onStored(List.of("s3:GetObjectLegalHold"), get, get.version());
      case PutObjectLegalHold put ->
          Need.of("s3:PutObjectLegalHold", new Resource.KeysOf(put.bucket()));
      case UpdateObjectEncryption update ->
          onStored(List.of("s3:UpdateObjectEncryption"), update, update.version());
      case GetUnconfigured get ->
          Need.ofVersion(
              get.feature().readAction(),
              Resource.existing(get.bucket(), get.key(), get.version()));
      case RenameObject rename -> onKey("s3:PutObject", rename);
      case VersionRequest write -> onKey(write.needed(), write);
      case AppendObject append -> onKey("s3:PutObject", append);
      case DeleteObject delete ->
          new Need(
              delete.actions(), new Resource.Key(delete.bucket(), delete.key(), delete.version()));
      case UploadPart part -> onKey("s3:PutObject", part);
      case UploadPartCopy part -> onKey("s3:PutObject", part);
      case CompleteMultipartUpload complete -> onKey("s3:PutObject", complete);
      case AbortMultipartUpload abort -> onKey("s3:AbortMultipartUpload", abort);
      case ListParts list -> onKey("s3:ListMultipartUploadParts", list);
      case GetObject get -> onStored(List.of("s3:GetObject"), get, get.version());
      case HeadObject head -> onStored(List.of("s3:GetObject"), head, head.version());
      case GetObjectAttributes get ->
          onStored(List.of("s3:GetObject", "s3:GetObjectAttributes"), get, get.version());
      case PatchObject patch -> onStored(List.of("s3:GetObject", "s3:PutObject"), patch, null);
    };
  }

  /** Whether a request of this kind can say that it bypasses retentions of governance mode. */
  static boolean mayBypassGovernance(S3Request request) {
    return request instanceof PutObjectRetention
        || request instanceof DeleteObject
        || request instanceof DeleteObjects;
  }

  /** Of requests whose document must not be taken for another one. */
  private static void requireDigest(boolean hasDigest) throws S3Exception {
    if (!hasDigest) {
      throw S3Exception.invalidRequest("Missing required header for this request: Content-MD5");
    }
  }

  private static Need onBucket(String action, String bucket) {
    return Need.of(action, new Resource.Bucket(bucket));
  }

  private static Need onKey(String action, KeyRequest request) {
    return onKey(List.of(action), request);
  }

  private static Need onKey(List<String> actions, KeyRequest request) {
    return new Need(actions, new Resource.Key(request.bucket(), request.key()));
  }

  private static Need onStored(
      List<String> actions, KeyRequest request, @Nullable VersionRef version) {
    return new Need(
        VersionActions.of(actions, version),
        new Resource.StoredObject(request.bucket(), request.key(), version));
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

  /** A request that makes a version, now or at its end. */
  sealed interface VersionRequest extends KeyRequest {
    /** What its headers give the version. */
    NewFacts given();

    /** The ACL that its headers give the version. */
    AclRequest acl();

    /** How it is to be encrypted, as the headers have it. */
    EncryptionFields encryption();

    /** What it needs. Giving an ACL to what is written needs a right of its own. */
    private List<String> needed() {
      List<String> actions = given().needed("s3:PutObject");
      if (acl().isGiven()) {
        actions.add("s3:PutObjectAcl");
      }
      return actions;
    }
  }

  /** A request that may name a version of its object. */
  sealed interface OfVersion extends S3Request {
    /** Null: the present version. */
    @Nullable VersionRef version();
  }

  /** A request about what a version has beside its content: its tags, its lock or its data key. */
  sealed interface FactsRequest extends KeyRequest, OfVersion {
    /** The object that it is about. */
    default Resource.StoredObject stored() {
      return new Resource.StoredObject(bucket(), key(), version());
    }
  }

  /** A request whose body becomes a part of an object. */
  sealed interface DataRequest extends KeyRequest {
    @Override
    default void requireValid(long bodyLength) throws S3Exception {
      boolean mayLackLength = this instanceof PutObject || this instanceof UploadPart;
      if (bodyLength < 0 && !mayLackLength) {
        throw new S3Exception(S3Error.MISSING_CONTENT_LENGTH);
      }
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
   * @param lock whether versions can have locks
   * @param ownership null: as the server is configured
   */
  record CreateBucket(
      String bucket, boolean lock, AclRequest acl, @Nullable ObjectOwnership ownership)
      implements S3Request {
    private List<String> actions() {
      List<String> actions = new ArrayList<>(List.of("s3:CreateBucket"));
      if (lock) {
        actions.addAll(List.of("s3:PutBucketObjectLockConfiguration", "s3:PutBucketVersioning"));
      }
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

  record GetBucketVersioning(String bucket) implements S3Request {}

  /** Enables or suspends versioning, as the body says. */
  record PutBucketVersioning(String bucket) implements S3Request {}

  record GetBucketRequestPayment(String bucket) implements S3Request {}

  /** Says who pays for requests, as the body has it. */
  record PutBucketRequestPayment(String bucket) implements S3Request {}

  record GetBucketLogging(String bucket) implements S3Request {}

  /** Says where the log of the requests goes, as the body has it. */
  record PutBucketLogging(String bucket) implements S3Request {}

  record GetBucketNotificationConfiguration(String bucket) implements S3Request {}

  /**
   * Says who is told of events in the bucket, as the body has it.
   *
   * @param isTested whether the targets are sent a test event before
   */
  record PutBucketNotificationConfiguration(String bucket, boolean isTested) implements S3Request {}

  record GetBucketWebsite(String bucket) implements S3Request {}

  /** Makes the bucket a website, as the body says. */
  record PutBucketWebsite(String bucket) implements S3Request {}

  record DeleteBucketWebsite(String bucket) implements S3Request {}

  record GetBucketTagging(String bucket) implements S3Request {}

  /** Replaces the tags by those in the body. */
  record PutBucketTagging(String bucket) implements S3Request {}

  record DeleteBucketTagging(String bucket) implements S3Request {}

  record GetBucketEncryption(String bucket) implements S3Request {}

  /** Replaces the default encryption by the one in the body. */
  record PutBucketEncryption(String bucket) implements S3Request {}

  record DeleteBucketEncryption(String bucket) implements S3Request {}

  record GetBucketCors(String bucket) implements S3Request {}

  /** Replaces the CORS configuration by the one in the body. */
  record PutBucketCors(String bucket, boolean hasDigest) implements S3Request {
    @Override
    public void requireValid(long bodyLength) throws S3Exception {
      requireDigest(hasDigest);
    }
  }

  record DeleteBucketCors(String bucket) implements S3Request {}

  record GetBucketLifecycleConfiguration(String bucket) implements S3Request {}

  /**
   * Replaces the rules by those in the body.
   *
   * @param hasDigest whether a header has a digest of the body
   * @param smallObjectsStay whether rules without sizes leave small objects in their storage class
   */
  record PutBucketLifecycleConfiguration(String bucket, boolean hasDigest, boolean smallObjectsStay)
      implements S3Request {
    @Override
    public void requireValid(long bodyLength) throws S3Exception {
      requireDigest(hasDigest);
    }
  }

  record DeleteBucketLifecycle(String bucket) implements S3Request {}

  record GetObjectTagging(String bucket, String key, @Nullable VersionRef version)
      implements FactsRequest {}

  /** Replaces the tags by those in the body. */
  record PutObjectTagging(String bucket, String key, @Nullable VersionRef version)
      implements FactsRequest {
    /** What the sender must be allowed to do, given the tags in the body. */
    public Need needsOfObject() {
      return onStored(List.of("s3:PutObjectTagging"), this, version);
    }
  }

  record DeleteObjectTagging(String bucket, String key, @Nullable VersionRef version)
      implements FactsRequest {}

  /** Seals the data key of a version with the key that the body names. */
  record UpdateObjectEncryption(String bucket, String key, @Nullable VersionRef version)
      implements FactsRequest {}

  record GetObjectLockConfiguration(String bucket) implements S3Request {}

  /** Lets versions have locks, and sets the default retention that the body has. */
  record PutObjectLockConfiguration(String bucket) implements S3Request {}

  record GetObjectRetention(String bucket, String key, @Nullable VersionRef version)
      implements FactsRequest {}

  /** Sets the retention that is in the body. */
  record PutObjectRetention(
      String bucket, String key, @Nullable VersionRef version, boolean bypassesGovernance)
      implements FactsRequest {
    private List<String> actions() {
      return bypassesGovernance
          ? List.of("s3:PutObjectRetention", BYPASS_GOVERNANCE)
          : List.of("s3:PutObjectRetention");
    }

    /** What the sender must be allowed to do, given the retention in the body. */
    public Need needsOfObject() {
      return onStored(actions(), this, version);
    }
  }

  record GetObjectLegalHold(String bucket, String key, @Nullable VersionRef version)
      implements FactsRequest {}

  /** Sets the legal hold that is in the body. */
  record PutObjectLegalHold(String bucket, String key, @Nullable VersionRef version)
      implements FactsRequest {
    /** What the sender must be allowed to do, given the hold in the body. */
    public Need needsOfObject() {
      return onStored(List.of("s3:PutObjectLegalHold"), this, version);
    }
  }

  /** Reads the ACL; of the bucket if the key is null. */
  record GetAcl(String bucket, @Nullable String key, @Nullable VersionRef version)
      implements OfVersion {}

  /**
   * Replaces the ACL; of the bucket if the key is null.
   *
   * @param acl None: the body is the ACL
   */
  record PutAcl(String bucket, @Nullable String key, @Nullable VersionRef version, AclRequest acl)
      implements OfVersion {}

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
  record GetUnconfigured(
      String bucket,
      @Nullable String key,
      @Nullable VersionRef version,
      Subresource.Unconfigured feature)
      implements OfVersion {}

  record ListObjects(Listing listing, String marker) implements ListingRequest {}

  record ListObjectsV2(
      Listing listing, String startAfter, @Nullable String continuationToken, boolean fetchOwner)
      implements ListingRequest {}

  /**
   * Lists the versions of all keys.
   *
   * @param versionMarker of the key marker, too, the versions older than this one; null: none
   */
  record ListObjectVersions(
      Listing listing, String keyMarker, String versionIdMarker, @Nullable VersionRef versionMarker)
      implements ListingRequest {}

  record ListMultipartUploads(Listing listing, String keyMarker, String uploadIdMarker)
      implements ListingRequest {}

  record DeleteObjects(String bucket, boolean hasDigest, boolean bypassesGovernance)
      implements S3Request {
    @Override
    public void requireValid(long bodyLength) throws S3Exception {
      requireDigest(hasDigest);
    }
  }

  /**
   * Stores.
   *
   * @param storageClass null: none is asked for
   */
  record PutObject(
      String bucket,
      String key,
      ObjectAttributes attributes,
      @Nullable String storageClass,
      NewFacts given,
      Precondition precondition,
      ChecksumAlgorithm announced,
      AclRequest acl,
      EncryptionFields encryption)
      implements DataRequest, VersionRequest {}

  /**
   * Stores the file of a form.
   *
   * @param put what an upload with these fields as its headers stores
   * @param redirect where the browser is sent then; empty: nowhere
   * @param status of the answer otherwise: 200, 201 or 204
   */
  record PostObject(PutObject put, String redirect, int status) implements VersionRequest {
    @Override
    public String bucket() {
      return put.bucket();
    }

    @Override
    public String key() {
      return put.key();
    }

    @Override
    public NewFacts given() {
      return put.given();
    }

    @Override
    public AclRequest acl() {
      return put.acl();
    }

    @Override
    public EncryptionFields encryption() {
      return put.encryption();
    }
  }

  /**
   * Appends bytes to an object, or creates it.
   *
   * @param attributes of the object if it is created
   * @param offset the size of the object that the client expects
   * @param storageClass of the object; null: whichever it has
   * @param encryption of the object if it is created; its customer key opens one that is there
   */
  record AppendObject(
      String bucket,
      String key,
      AppendDialect dialect,
      long offset,
      ObjectAttributes attributes,
      @Nullable String storageClass,
      Precondition precondition,
      ChecksumAlgorithm announced,
      EncryptionFields encryption)
      implements DataRequest {}

  /**
   * Overwrites a range of an object, which may extend behind its end.
   *
   * @param storageClass of the object; null: whichever it has
   * @param unmodifiedSince seconds since 1970, or -1
   */
  record PatchObject(
      String bucket,
      String key,
      PatchRange range,
      @Nullable String storageClass,
      Precondition precondition,
      long unmodifiedSince,
      ChecksumAlgorithm announced,
      CustomerFields customer)
      implements DataRequest {}

  /**
   * Copies.
   *
   * @param storageClass null: none is asked for
   * @param copiesTags whether the copy has the tags of its source
   * @param checksum algorithm for the copy, or NONE for that of the source
   */
  record CopyObject(
      String bucket,
      String key,
      CopySource source,
      CopiedAttributes attributes,
      @Nullable String storageClass,
      boolean copiesTags,
      NewFacts given,
      Precondition precondition,
      ChecksumAlgorithm checksum,
      AclRequest acl,
      EncryptionFields encryption)
      implements VersionRequest {
    @Override
    public void requireValid(long bodyLength) throws S3Exception {
      boolean isSelf =
          bucket.equals(source.bucket()) && key.equals(source.key()) && source.version() == null;
      if (isSelf && attributes.areKept() && storageClass == null && !encryption.isGiven()) {
        throw S3Exception.invalidRequest(
            "This copy request is illegal because it is trying to copy an object to itself without"
                + " changing the object's metadata, storage class, website redirect location or"
                + " encryption attributes.");
      }
    }
  }

  /**
   * Renames.
   *
   * @param source key of the same bucket
   * @param conditions on the source
   * @param precondition on what has the new name now
   * @param clientToken of this request and its repetitions; empty for none
   */
  record RenameObject(
      String bucket,
      String key,
      String source,
      Conditions conditions,
      Precondition precondition,
      String clientToken)
      implements KeyRequest {
    /** What the sender must be allowed to do with the source, beside the need of the request. */
    public Need needsOfSource() {
      return new Need(
          List.of("s3:GetObject", "s3:DeleteObject"), new Resource.StoredObject(bucket, source));
    }

    @Override
    public void requireValid(long bodyLength) throws S3Exception {
      if (source.equals(key)) {
        throw S3Exception.invalidRequest(
            "This rename request is illegal because it is trying to rename an object to itself.");
      }
    }
  }

  record GetObject(String bucket, String key, @Nullable VersionRef version, ReadOptions options)
      implements KeyRequest, OfVersion {}

  record HeadObject(String bucket, String key, @Nullable VersionRef version, ReadOptions options)
      implements KeyRequest, OfVersion {}

  record GetObjectAttributes(
      String bucket,
      String key,
      @Nullable VersionRef version,
      Conditions conditions,
      Set<ObjectAttribute> attributes,
      int partNumberMarker,
      int maxParts,
      CustomerFields customer)
      implements KeyRequest, OfVersion {}

  /** Deletes the present version, or the one that is named for good. */
  record DeleteObject(
      String bucket,
      String key,
      @Nullable VersionRef version,
      boolean bypassesGovernance,
      Precondition precondition)
      implements KeyRequest, OfVersion {
    /** A condition on the ETag tells that of the present version. */
    private List<String> actions() {
      List<String> actions = new ArrayList<>(3);
      actions.add(VersionActions.of("s3:DeleteObject", version));
      String etag = precondition.getIfMatch();
      if (!etag.isEmpty() && !etag.equals("*")) {
        actions.add("s3:GetObject");
      }
      if (bypassesGovernance) {
        actions.add(BYPASS_GOVERNANCE);
      }
      return actions;
    }
  }

  /**
   * Begins a multipart upload.
   *
   * @param storageClass of its object; null: none is asked for
   */
  record CreateMultipartUpload(
      String bucket,
      String key,
      ObjectAttributes attributes,
      @Nullable String storageClass,
      NewFacts given,
      ChecksumAlgorithm checksum,
      ChecksumType checksumType,
      AclRequest acl,
      EncryptionFields encryption)
      implements VersionRequest {}

  record UploadPart(
      String bucket,
      String key,
      String uploadId,
      int partNumber,
      ChecksumAlgorithm announced,
      CustomerFields customer)
      implements DataRequest, UploadRequest {}

  /** Copies a range of an object, or all of it if the range is null, into a part. */
  record UploadPartCopy(
      String bucket,
      String key,
      String uploadId,
      int partNumber,
      CopySource source,
      @Nullable ByteRange range,
      CustomerFields customer)
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
      @Nullable ChecksumType checksumType,
      CustomerFields customer)
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
   * @param customer what opens an object with SSE-C
   */
  record ReadOptions(
      Conditions conditions,
      @Nullable RangeSpec range,
      int partNumber,
      boolean checksum,
      Map<String, String> overrides,
      CustomerFields customer) {}

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
   * @param version null: the present one
   * @param expectedOwner of its bucket, null for any
   * @param customer what opens it if it has SSE-C
   */
  record CopySource(
      String bucket,
      String key,
      @Nullable VersionRef version,
      Conditions conditions,
      @Nullable String expectedOwner,
      CustomerFields customer) {
    /** As conditions of policies name it, whatever its version. */
    public String name() {
      return bucket + "/" + key;
    }

    /** What the sender must be allowed to do with the source, beside the need of the request. */
    public Need needs() {
      return Need.ofVersion("s3:GetObject", new Resource.StoredObject(bucket, key, version));
    }

    /** What copying the tags of the source needs besides. */
    public Need needsOfTags() {
      return Need.ofVersion("s3:GetObjectTagging", new Resource.StoredObject(bucket, key, version));
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
