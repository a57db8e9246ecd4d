package dev.ashlar.gateway.operation.log;

import dev.ashlar.gateway.access.BucketConfig;
import dev.ashlar.gateway.access.policy.Requester;
import dev.ashlar.gateway.access.policy.value.ConditionContext;
import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.operation.shared.Backend;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.AccountQuery;
import java.time.Instant;
import java.util.List;

/** Which buckets access logs may be delivered into. */
record LogTargets(Backend backend) {
  /** The bucket whose requests are logged. */
  record Source(String bucket, String owner) {}

  /**
   * The id of the owner's account; its canonical user id if it has none.
   *
   * @param owner canonical user id
   */
  String account(String owner) throws MetadataUnavailableException {
    return backend
        .metadata()
        .account(AccountQuery.newBuilder().setCanonicalId(owner).build())
        .map(account -> account.getAccount().getId())
        .orElse(owner);
  }

  /**
   * The target bucket.
   *
   * @param account id of the source's owner
   * @param key under which an object is to be stored
   * @throws S3Exception InvalidTargetBucketForLogging
   */
  BucketConfig require(Source source, String account, String target, String key)
      throws S3Exception, MetadataUnavailableException {
    String inPolicies =
        backend.config().answers().sourceAccountIsCanonical() ? source.owner : account;
    BucketConfig config;
    try {
      config =
          backend
              .access()
              .requireLogDelivery(
                  target, key, facts(source, inPolicies, backend.clock().instant()));
    } catch (S3Exception e) {
      throw switch (e.error()) {
        case NO_SUCH_BUCKET ->
            of(
                S3Error.MISSING_TARGET_BUCKET_FOR_LOGGING,
                "The target bucket for logging does not exist",
                target);
        case ACCESS_DENIED ->
            of(
                S3Error.CLOSED_TARGET_BUCKET_FOR_LOGGING,
                "The target bucket must let logging.s3.amazonaws.com put objects by its policy,"
                    + " or give the log-delivery group WRITE permission",
                target);
        default -> e;
      };
    }
    if (!config.row().getOwner().equals(source.owner)) {
      throw invalid(
          "The owner for the bucket to be logged and the target bucket must be the same.", target);
    }
    if (config.requesterPays()) {
      throw invalid("The target bucket must not be one whose requesters pay.", target);
    }
    return config;
  }

  /**
   * Refuses what radosgw accepts no logs into, for those who configure it.
   *
   * @throws S3Exception InvalidTargetBucketForLogging
   */
  static void requirePlain(Source source, BucketConfig target) throws S3Exception {
    String name = target.row().getName();
    if (name.equals(source.bucket)) {
      throw invalid("The target bucket must not be the bucket that is logged.", name);
    }
    if (target.logging() != null) {
      throw invalid("The target bucket must not be logged itself.", name);
    }
    if (target.encryption() != null) {
      throw invalid("The target bucket must not have encryption by default.", name);
    }
  }

  private static S3Exception invalid(String message, String target) {
    return of(S3Error.INVALID_TARGET_BUCKET_FOR_LOGGING, message, target);
  }

  private static S3Exception of(S3Error error, String message, String target) {
    return new S3Exception(error, message).with("TargetBucket", target);
  }

  /** What conditions of policies are told about a delivery. Nothing of it leaves the store. */
  private static ConditionContext facts(Source source, String account, Instant now) {
    return key ->
        switch (key) {
          case "aws:sourcearn" -> List.of("arn:aws:s3:::" + source.bucket);
          case "aws:sourceaccount" -> List.of(account);
          case "aws:principalisawsservice", "aws:securetransport" -> List.of("true");
          case "aws:principalservicename" -> List.of(Requester.Service.LOG_DELIVERY.name());
          case "aws:viaawsservice" -> List.of("false");
          case "aws:currenttime" -> List.of(now.toString());
          case "aws:epochtime" -> List.of(Long.toString(now.getEpochSecond()));
          default -> List.of();
        };
  }
}
