package dev.ashlar.gateway.access;

import dev.ashlar.gateway.access.policy.AccessRequest;
import dev.ashlar.gateway.access.policy.Requester;
import dev.ashlar.gateway.access.policy.decision.Authorization;
import dev.ashlar.gateway.access.policy.decision.Decision;
import dev.ashlar.gateway.access.policy.decision.IdentityPolicies;
import dev.ashlar.gateway.access.policy.value.ConditionContext;
import dev.ashlar.gateway.error.Denial;
import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.protocol.client.AccessRead;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.ObjectRead;
import dev.ashlar.protocol.client.VersionRead;
import dev.ashlar.protocol.message.AccountQuery;
import dev.ashlar.protocol.message.BucketRow;
import dev.ashlar.protocol.message.KeyQuery;
import dev.ashlar.protocol.message.PrincipalQuery;
import dev.ashlar.protocol.message.VersionRef;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The gate in front of the operations: reads what a decision is based on, decides, and hands the
 * rows on, so that the operation does not read them again. The policies of the caller, and the
 * policy, ACL, ownership and public access block of the bucket are asked, in the order of AWS.
 */
public final class AccessControl {
  private static final String PUT_OBJECT = "s3:PutObject";
  private static final Pattern ACCOUNT_ID = Pattern.compile("[0-9]{12}");

  private final MetadataClient metadata;
  private final BucketConfigs configs = new BucketConfigs();

  public AccessControl(MetadataClient metadata) {
    this.metadata = metadata;
  }

  /**
   * Returns only if the caller may do all that is needed.
   *
   * @throws S3Exception NoSuchBucket or AccessDenied; for a stored object NoSuchKey, NoSuchVersion,
   *     or MethodNotAllowed if the version is a delete marker
   */
  public Permit require(Caller caller, Need need) throws S3Exception, MetadataUnavailableException {
    return switch (need.resource()) {
      // Every account has its own buckets and can create one.
      case Need.Resource.Service service -> ofOwnAccount(caller, need);
      case Need.Resource.NewBucket created -> ofOwnAccount(caller, need);
      case Need.Resource.Bucket bucket -> ofBucket(caller, bucket.bucket(), need);
      case Need.Resource.Key key -> ofBucket(caller, key.bucket(), need);
      // The operation asks about each key.
      case Need.Resource.KeysOf keys -> new Permit(decider(caller, keys.bucket()), null);
      case Need.Resource.StoredObject object -> ofObject(caller, object, need);
    };
  }

  private Permit ofOwnAccount(Caller asked, Need need)
      throws S3Exception, MetadataUnavailableException {
    PrincipalQuery question = asked.question();
    Caller caller = asked.confirmed(question == null ? null : metadata.principal(question));
    for (String action : need.actions()) {
      AccessRequest request =
          new AccessRequest(
              caller.requester(),
              action,
              need.resource().arn(),
              ActionFacts.of(action, caller.facts()));
      requireAllowed(Authorization.decideInOwnAccount(request, caller.policies()));
    }
    return new Permit(new Decider(caller, null), null);
  }

  private Permit ofBucket(Caller caller, String name, Need need)
      throws S3Exception, MetadataUnavailableException {
    Decider decider = decider(caller, name);
    requireAllowed(decider.decide(need));
    return new Permit(decider, null);
  }

  private Decider decider(Caller caller, String name)
      throws S3Exception, MetadataUnavailableException {
    BucketConfig before = configs.known(name);
    AccessRead read = metadata.bucket(BucketConfigs.query(name, before), caller.question());
    return decider(caller, read, present(name, before, read));
  }

  /**
   * @throws S3Exception AccessDenied if the caller has to pay and does not agree to
   */
  private static Decider decider(Caller caller, AccessRead read, BucketConfig config)
      throws S3Exception {
    Decider decider = new Decider(caller.confirmed(read.caller()), config);
    if (decider.isCharged() && !decider.agreesToPay()) {
      throw new S3Exception(S3Error.ACCESS_DENIED).deniedBy(Denial.PAYER);
    }
    return decider;
  }

  private BucketConfig present(String name, @Nullable BucketConfig before, AccessRead read)
      throws S3Exception {
    return configs
        .present(name, before, read.config())
        .orElseThrow(() -> new S3Exception(S3Error.NO_SUCH_BUCKET).with("BucketName", name));
  }

  /**
   * The bucket, if access logs may be delivered into it under this key.
   *
   * @param facts about the delivery, for conditions of policies
   * @throws S3Exception NoSuchBucket or AccessDenied
   */
  public BucketConfig requireLogDelivery(String bucket, String key, ConditionContext facts)
      throws S3Exception, MetadataUnavailableException {
    BucketConfig before = configs.known(bucket);
    AccessRead read = metadata.bucket(BucketConfigs.query(bucket, before), null);
    BucketConfig config = present(bucket, before, read);
    AccessRequest request =
        new AccessRequest(
            Requester.Service.LOG_DELIVERY,
            PUT_OBJECT,
            new Need.Resource.Key(bucket, key).arn(),
            ActionFacts.of(PUT_OBJECT, facts));
    requireAllowed(
        Authorization.decide(
            request, IdentityPolicies.NONE, config.access(request.requester()), null));
    return config;
  }

  /** The bucket as it was last read here; null: it is not known. */
  public @Nullable BucketConfig known(String bucket) {
    return configs.known(bucket);
  }

  private Permit ofObject(Caller caller, Need.Resource.StoredObject wanted, Need need)
      throws S3Exception, MetadataUnavailableException {
    BucketConfig before = configs.known(wanted.bucket());
    AccessRead read =
        metadata.object(
            query(wanted), BucketConfigs.query(wanted.bucket(), before), caller.question());
    Decider decider = decider(caller, read, present(wanted.bucket(), before, read));
    return switch (read.found()) {
      case VersionRead.Content content -> {
        requireAllowed(decider.decide(need, content.read().object()));
        yield new Permit(decider, content.read());
      }
      case VersionRead.DeleteMarker deleted -> {
        requireMayLearnWhatIsMissing(decider, wanted, need);
        throw MissingObjects.deleted(wanted, deleted.marker());
      }
      case VersionRead.Nothing nothing -> {
        requireMayLearnWhatIsMissing(decider, wanted, need);
        throw MissingObjects.none(wanted);
      }
    };
  }

  private static KeyQuery query(Need.Resource.StoredObject wanted) {
    KeyQuery.Builder query = KeyQuery.newBuilder().setBucket(wanted.bucket()).setKey(wanted.key());
    VersionRef version = wanted.version();
    return version == null ? query.setMarkers(true).build() : query.setVersion(version).build();
  }

  /**
   * Whoever may not list a bucket does not learn what is not in it; whoever may neither read nor
   * list versions does not learn which there are.
   */
  private static void requireMayLearnWhatIsMissing(
      Decider decider, Need.Resource.StoredObject wanted, Need need) throws S3Exception {
    if (!mayLearnWhatIsMissing(decider, wanted, need)) {
      Decision decision = decider.decide(need);
      requireAllowed(decision.isAllowed() ? Decision.IMPLICIT_DENY : decision);
    }
  }

  private static boolean mayLearnWhatIsMissing(
      Decider decider, Need.Resource.StoredObject wanted, Need need) {
    return !decider.isDenied(need)
        && decider.mayMiss("s3:ListBucket", wanted.bucket(), wanted.key())
        && (wanted.version() == null
            || decider.isAllowed(need)
            || decider.mayMiss("s3:ListBucketVersions", wanted.bucket(), wanted.key()));
  }

  /**
   * Refuses when the bucket exists and belongs to another owner than the sender expects.
   *
   * @param expectedOwner the id of an account, or its canonical user id
   */
  public void requireExpectedOwner(@Nullable String bucket, String expectedOwner)
      throws S3Exception, MetadataUnavailableException {
    Optional<BucketRow> row = bucket == null ? Optional.empty() : metadata.bucket(bucket);
    if (row.isPresent() && !row.get().getOwner().equals(canonicalId(expectedOwner))) {
      throw new S3Exception(S3Error.ACCESS_DENIED).deniedBy(Denial.OWNER);
    }
  }

  private String canonicalId(String expectedOwner) throws MetadataUnavailableException {
    if (!ACCOUNT_ID.matcher(expectedOwner).matches()) {
      return expectedOwner;
    }
    return metadata
        .account(AccountQuery.newBuilder().setId(expectedOwner).build())
        .map(account -> account.getAccount().getCanonicalId())
        .orElse(expectedOwner);
  }

  private static void requireAllowed(Decision decision) throws S3Exception {
    Denial why = decision.why();
    if (why != null) {
      throw new S3Exception(S3Error.ACCESS_DENIED).deniedBy(why);
    }
  }

  /** The outcome of a decision in favour of a caller, with what it was based on. */
  public static final class Permit {
    private final Decider decider;
    private final @Nullable ObjectRead object;

    Permit(Decider decider, @Nullable ObjectRead object) {
      this.decider = decider;
      this.object = object;
    }

    public Caller caller() {
      return decider.caller();
    }

    /** The bucket of a need that is about a bucket, a key or an object. */
    public BucketRow bucket() {
      return config().row();
    }

    /** The same with what it says about access. */
    public BucketConfig config() {
      return present(decider.config());
    }

    /** Whether somebody is told of events in the bucket, if the need is about one. */
    public boolean notifies() {
      BucketConfig config = decider.config();
      return config != null && config.row().getNotifiedEvents() != 0;
    }

    /** The object of a need that is about a stored object. */
    public ObjectRead object() {
      return present(object);
    }

    /** Whether the caller pays for the request, to which it has agreed. */
    public boolean isCharged() {
      return decider.isCharged();
    }

    /** Whether the caller may do something else, too, in the same bucket. */
    public boolean isAllowed(Need need) {
      return decider.isAllowed(need);
    }

    /** The same, saying what denies it. */
    public Decision decide(Need need) {
      return decider.decide(need);
    }

    /** Whether the caller may do something else, too, with the same stored object. */
    public boolean isAllowedOnObject(Need need) {
      return decider.isAllowed(need, object().object());
    }

    private static <T> T present(@Nullable T row) {
      if (row == null) {
        throw new IllegalStateException("the decision was not based on this kind of row");
      }
      return row;
    }
  }
}
