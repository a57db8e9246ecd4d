package dev.ashlar.importer;

import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.CORSRule;
import software.amazon.awssdk.services.s3.model.GetBucketEncryptionResponse;
import software.amazon.awssdk.services.s3.model.GetBucketLifecycleConfigurationResponse;
import software.amazon.awssdk.services.s3.model.GetBucketNotificationConfigurationResponse;
import software.amazon.awssdk.services.s3.model.GetBucketWebsiteResponse;
import software.amazon.awssdk.services.s3.model.Grant;
import software.amazon.awssdk.services.s3.model.LifecycleRule;
import software.amazon.awssdk.services.s3.model.Payer;
import software.amazon.awssdk.services.s3.model.S3Exception;
import software.amazon.awssdk.services.s3.model.ServerSideEncryptionByDefault;
import software.amazon.awssdk.services.s3.model.ServerSideEncryptionRule;
import software.amazon.awssdk.services.s3.model.Tag;
import software.amazon.awssdk.services.s3.model.TransitionDefaultMinimumObjectSize;
import software.amazon.awssdk.services.s3.model.WebsiteConfiguration;

/**
 * Documents of a bucket that say nothing about how its objects are written: policy, tags, and so
 * on. What the target does not serve is named.
 */
final class BucketDocuments {
  private final S3Client source;
  private final S3Client target;
  private final String bucket;
  private final Tally tally;
  private final Journal journal;
  private final SettingsRule rule;

  BucketDocuments(
      Side source, Side target, String bucket, Tally tally, Journal journal, SettingsRule rule) {
    this.source = source.s3();
    this.target = target.s3();
    this.bucket = bucket;
    this.tally = tally;
    this.journal = journal;
    this.rule = rule;
  }

  void bring() {
    if (rule.mayAdd(bucket)) {
      bringAll();
    }
    nameOthers();
  }

  private void bringAll() {
    bring(
        "tags",
        BucketDocuments::tags,
        (to, tags) -> to.putBucketTagging(r -> r.bucket(bucket).tagging(t -> t.tagSet(tags))));
    bring(
        "ownership of objects",
        (from, name) -> from.getBucketOwnershipControls(r -> r.bucket(name)).ownershipControls(),
        (to, found) ->
            to.putBucketOwnershipControls(r -> r.bucket(bucket).ownershipControls(found)));
    bring(
        "public access block",
        (from, name) ->
            from.getPublicAccessBlock(r -> r.bucket(name)).publicAccessBlockConfiguration(),
        (to, found) ->
            to.putPublicAccessBlock(r -> r.bucket(bucket).publicAccessBlockConfiguration(found)));
    bring(
        "request payment",
        BucketDocuments::payer,
        (to, payer) ->
            to.putBucketRequestPayment(
                r -> r.bucket(bucket).requestPaymentConfiguration(c -> c.payer(payer))));
    bring(
        "website",
        BucketDocuments::website,
        (to, found) -> to.putBucketWebsite(r -> r.bucket(bucket).websiteConfiguration(found)));
    bring(
        "logging",
        (from, name) -> from.getBucketLogging(r -> r.bucket(name)).loggingEnabled(),
        (to, found) ->
            to.putBucketLogging(
                r -> r.bucket(bucket).bucketLoggingStatus(s -> s.loggingEnabled(found))));
    bring(
        "policy",
        (from, name) -> from.getBucketPolicy(r -> r.bucket(name)).policy(),
        (to, found) -> to.putBucketPolicy(r -> r.bucket(bucket).policy(found)));
    bring(
        "CORS",
        BucketDocuments::cors,
        (to, rules) ->
            to.putBucketCors(r -> r.bucket(bucket).corsConfiguration(c -> c.corsRules(rules))));
    bring(
        "lifecycle",
        BucketDocuments::lifecycle,
        (to, found) ->
            to.putBucketLifecycleConfiguration(
                r ->
                    r.bucket(bucket)
                        .lifecycleConfiguration(c -> c.rules(found.rules()))
                        .transitionDefaultMinimumObjectSize(found.minimum())));
  }

  private void nameOthers() {
    name("encryption", this::missingEncryption);
    name("replication", () -> source.getBucketReplication(r -> r.bucket(bucket)));
    name("notifications", () -> notifications());
    name("ACL", this::acl);
  }

  private interface Read<T> {
    @Nullable T from(S3Client side, String bucket);
  }

  private interface Write<T> {
    void to(S3Client side, T document);
  }

  private <T> void bring(String what, Read<T> read, Write<T> write) {
    try {
      T here = BucketSettings.orNull(() -> read.from(source, bucket));
      T there = BucketSettings.orNull(() -> read.from(target, bucket));
      if (here == null || here.equals(there)) {
        return;
      }
      if (there == null || rule.mayReplace()) {
        write.to(target, here);
      } else {
        rule.differs(bucket, what);
      }
    } catch (S3Exception e) {
      if (BucketSettings.isUnknown(e) || isUnfitTarget(e)) {
        tally.notCarriedOver(bucket + ": " + what);
      } else {
        fail(what, e);
      }
    } catch (SdkException e) {
      fail(what, e);
    }
  }

  /** The bucket that gets the log is not there yet, or does not let it in. */
  private static boolean isUnfitTarget(S3Exception answer) {
    return answer.awsErrorDetails() != null
        && "InvalidTargetBucketForLogging".equals(answer.awsErrorDetails().errorCode());
  }

  private void fail(String what, SdkException e) {
    tally.countFailure();
    journal.failed(bucket + " (" + what + ")", BucketPass.reason(e));
  }

  /** Of what the target cannot have. */
  private void name(String what, Supplier<@Nullable Object> read) {
    try {
      if (BucketSettings.orNull(read) != null) {
        tally.notCarriedOver(bucket + ": " + what);
      }
    } catch (SdkException e) {
      journal.note(bucket + ": whether it has " + what + " is not known: " + BucketPass.reason(e));
    }
  }

  /** Null if objects of the target are encrypted as those of the source. */
  private @Nullable Object missingEncryption() {
    List<String> wanted = encryption(source);
    return wanted.isEmpty() || wanted.equals(encryption(target)) ? null : wanted;
  }

  /** The algorithms of the default encryption; none: there is none. */
  private List<String> encryption(S3Client side) {
    GetBucketEncryptionResponse answer =
        BucketSettings.orNull(() -> side.getBucketEncryption(r -> r.bucket(bucket)));
    return answer == null
        ? List.of()
        : answer.serverSideEncryptionConfiguration().rules().stream()
            .map(ServerSideEncryptionRule::applyServerSideEncryptionByDefault)
            .filter(Objects::nonNull)
            .map(ServerSideEncryptionByDefault::sseAlgorithmAsString)
            .toList();
  }

  private static @Nullable List<Tag> tags(S3Client side, String bucket) {
    return orNull(side.getBucketTagging(r -> r.bucket(bucket)).tagSet());
  }

  /** Null if it is the owner, who pays unless somebody else is named. */
  private static @Nullable Payer payer(S3Client side, String bucket) {
    Payer payer = side.getBucketRequestPayment(r -> r.bucket(bucket)).payer();
    return payer == Payer.REQUESTER ? payer : null;
  }

  private static WebsiteConfiguration website(S3Client side, String bucket) {
    GetBucketWebsiteResponse found = side.getBucketWebsite(r -> r.bucket(bucket));
    return WebsiteConfiguration.builder()
        .redirectAllRequestsTo(found.redirectAllRequestsTo())
        .indexDocument(found.indexDocument())
        .errorDocument(found.errorDocument())
        .routingRules(found.hasRoutingRules() ? found.routingRules() : null)
        .build();
  }

  private static @Nullable List<CORSRule> cors(S3Client side, String bucket) {
    return orNull(side.getBucketCors(r -> r.bucket(bucket)).corsRules());
  }

  /** Rules, and which objects they do not move because of their size. */
  private record Lifecycle(List<LifecycleRule> rules, TransitionDefaultMinimumObjectSize minimum) {}

  private static @Nullable Lifecycle lifecycle(S3Client side, String bucket) {
    GetBucketLifecycleConfigurationResponse found =
        side.getBucketLifecycleConfiguration(r -> r.bucket(bucket));
    // Services that do not tell move objects of all sizes.
    TransitionDefaultMinimumObjectSize minimum =
        Optional.ofNullable(found.transitionDefaultMinimumObjectSize())
            .orElse(TransitionDefaultMinimumObjectSize.VARIES_BY_STORAGE_CLASS);
    return found.rules().isEmpty() ? null : new Lifecycle(found.rules(), minimum);
  }

  private static <T> @Nullable List<T> orNull(List<T> list) {
    return list.isEmpty() ? null : list;
  }

  private @Nullable Object notifications() {
    GetBucketNotificationConfigurationResponse found =
        source.getBucketNotificationConfiguration(r -> r.bucket(bucket));
    boolean isEmpty =
        found.topicConfigurations().isEmpty()
            && found.queueConfigurations().isEmpty()
            && found.lambdaFunctionConfigurations().isEmpty()
            && found.eventBridgeConfiguration() == null;
    return isEmpty ? null : found;
  }

  /** Null if only the owner has rights by it. */
  private @Nullable Object acl() {
    List<Grant> grants = source.getBucketAcl(r -> r.bucket(bucket)).grants();
    return grants.size() > 1 ? grants : null;
  }
}
