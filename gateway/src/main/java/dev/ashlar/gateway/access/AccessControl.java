package dev.ashlar.gateway.access;

import dev.ashlar.gateway.access.policy.AccessRequest;
import dev.ashlar.gateway.access.policy.decision.Authorization;
import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.principal.Principal;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.ObjectRead;
import dev.ashlar.protocol.message.BucketRow;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The gate in front of the operations: reads the row that a decision is based on, decides, and
 * hands the row on, so that the operation does not read it again. It knows one rule: the owner of a
 * bucket may do everything with the bucket and its objects, and other callers may do nothing. Users
 * and sessions of the owner's account may do what their policies allow.
 */
public final class AccessControl {
  private final MetadataClient metadata;

  public AccessControl(MetadataClient metadata) {
    this.metadata = metadata;
  }

  /**
   * Returns only if the caller may do all that is needed.
   *
   * @throws S3Exception NoSuchBucket, AccessDenied, or NoSuchKey for a stored object
   */
  public Permit require(Caller caller, Need need) throws S3Exception, MetadataUnavailableException {
    return switch (need.resource()) {
      // Every account has its own buckets and can create one.
      case Need.Resource.Service service -> {
        requireAllowed(isPermitted(caller, need));
        yield new Permit(caller, null, null);
      }
      case Need.Resource.NewBucket created -> {
        requireAllowed(isPermitted(caller, need));
        yield new Permit(caller, null, null);
      }
      case Need.Resource.Bucket bucket -> ofBucket(caller, bucket.bucket(), need);
      case Need.Resource.Key key -> ofBucket(caller, key.bucket(), need);
      case Need.Resource.KeysOf keys -> new Permit(caller, bucket(caller, keys.bucket()), null);
      case Need.Resource.StoredObject object ->
          new Permit(caller, null, object(caller, object, need));
    };
  }

  private Permit ofBucket(Caller caller, String name, Need need)
      throws S3Exception, MetadataUnavailableException {
    BucketRow row = bucket(caller, name);
    requireAllowed(isPermitted(caller, need));
    return new Permit(caller, row, null);
  }

  /** Whether the caller's own policies allow all that is needed; whose it is counts besides. */
  public static boolean isPermitted(Caller caller, Need need) {
    Principal principal = caller.principal();
    if (principal == null) {
      return true;
    }
    for (String action : need.actions()) {
      AccessRequest request =
          new AccessRequest(principal.requester(), action, need.resource().arn(), caller.facts());
      if (!Authorization.decideInOwnAccount(request, principal.policies()).isAllowed()) {
        return false;
      }
    }
    return true;
  }

  private static Caller meeting(Caller caller, ObjectRead object) {
    return caller.meeting(object.object().getFacts().getTagsList());
  }

  /**
   * Whether the caller may also do this with the stored object of a permit, decided on the same
   * row.
   */
  public boolean isAlsoPermitted(Permit permit, Need need) {
    return isPermitted(meeting(permit.caller(), permit.object()), need);
  }

  private BucketRow bucket(Caller caller, String name)
      throws S3Exception, MetadataUnavailableException {
    BucketRow bucket =
        metadata
            .bucket(name)
            .orElseThrow(() -> new S3Exception(S3Error.NO_SUCH_BUCKET).with("BucketName", name));
    requireAllowed(isOwner(caller, bucket.getOwner()));
    return bucket;
  }

  private ObjectRead object(Caller caller, Need.Resource.StoredObject wanted, Need need)
      throws S3Exception, MetadataUnavailableException {
    Optional<ObjectRead> object = metadata.object(wanted.bucket(), wanted.key());
    // Only the owner of a bucket can write into it, so the object's owner decides, in one read.
    if (object.isPresent() && isOwner(caller, object.get().object().getSummary().getOwner())) {
      requireAllowed(isPermitted(meeting(caller, object.get()), need));
      return object.get();
    }
    bucket(caller, wanted.bucket());
    requireAllowed(isPermitted(object.isPresent() ? meeting(caller, object.get()) : caller, need));
    // Whoever may not list a bucket does not learn what is not in it.
    requireAllowed(
        object.isPresent()
            || isPermitted(
                caller, Need.of("s3:ListBucket", new Need.Resource.Bucket(wanted.bucket()))));
    return object.orElseThrow(() -> new S3Exception(S3Error.NO_SUCH_KEY).with("Key", wanted.key()));
  }

  /** Refuses when the bucket exists and belongs to another owner than the sender expects. */
  public void requireExpectedOwner(@Nullable String bucket, String expectedOwner)
      throws S3Exception, MetadataUnavailableException {
    Optional<BucketRow> row = bucket == null ? Optional.empty() : metadata.bucket(bucket);
    requireAllowed(row.isEmpty() || row.get().getOwner().equals(expectedOwner));
  }

  private static boolean isOwner(Caller caller, String owner) {
    return caller.canonicalId().equals(owner);
  }

  private static void requireAllowed(boolean isAllowed) throws S3Exception {
    if (!isAllowed) {
      throw new S3Exception(S3Error.ACCESS_DENIED);
    }
  }

  /** The outcome of a decision in favour of a caller, with the row that it was based on. */
  public static final class Permit {
    private final Caller caller;
    private final @Nullable BucketRow bucket;
    private final @Nullable ObjectRead object;

    Permit(Caller caller, @Nullable BucketRow bucket, @Nullable ObjectRead object) {
      this.caller = caller;
      this.bucket = bucket;
      this.object = object;
    }

    public Caller caller() {
      return caller;
    }

    /** The bucket of a need that is about a bucket or a key. */
    public BucketRow bucket() {
      return present(bucket);
    }

    /** The object of a need that is about a stored object. */
    public ObjectRead object() {
      return present(object);
    }

    private static <T> T present(@Nullable T row) {
      if (row == null) {
        throw new IllegalStateException("the decision was not based on this kind of row");
      }
      return row;
    }
  }
}
