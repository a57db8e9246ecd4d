package dev.ashlar.gateway.access;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import dev.ashlar.gateway.access.acl.Acl;
import dev.ashlar.gateway.access.policy.Policy;
import dev.ashlar.gateway.access.policy.PolicyKind;
import dev.ashlar.gateway.access.policy.Requester;
import dev.ashlar.gateway.access.policy.decision.BucketAccess;
import dev.ashlar.gateway.access.policy.decision.ObjectOwnership;
import dev.ashlar.gateway.access.policy.decision.PublicAccessBlock;
import dev.ashlar.gateway.access.policy.document.MalformedPolicyException;
import dev.ashlar.gateway.encryption.BucketEncryption;
import dev.ashlar.gateway.lifecycle.LifecycleDocuments;
import dev.ashlar.gateway.lifecycle.LifecycleRules;
import dev.ashlar.protocol.message.BucketConfigAnswer;
import dev.ashlar.protocol.message.BucketDocument;
import dev.ashlar.protocol.message.BucketPolicyDocument;
import dev.ashlar.protocol.message.BucketRow;
import dev.ashlar.protocol.message.OwnershipDocument;
import dev.ashlar.protocol.message.PublicAccessBlockDocument;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A bucket and what it says about access and the lifecycle of its objects, ready to be asked. A
 * document about access that this build cannot read closes what it is about.
 *
 * @param policyText as it was put; null without a policy
 * @param ownerRemoved whether the policy may shut out the root of the owner from the policy itself
 * @param ownership null: never configured
 * @param block null: never configured
 * @param lifecycle null: no rules
 * @param requesterPays whether other accounts have to agree to pay for their requests
 * @param logging null: requests are not logged
 * @param encryption of new objects; null: never configured
 * @param documentBytes of its documents, as text
 */
public record BucketConfig(
    BucketRow row,
    @Nullable Policy policy,
    @Nullable ByteString policyText,
    boolean ownerRemoved,
    @Nullable ObjectOwnership ownership,
    @Nullable PublicAccessBlock block,
    Acl acl,
    @Nullable LifecycleRules lifecycle,
    boolean requesterPays,
    @Nullable BucketLogging logging,
    @Nullable BucketEncryption encryption,
    long documentBytes) {

  static BucketConfig of(BucketConfigAnswer answer) {
    BucketRow row = answer.getBucket();
    Map<Integer, ByteString> documents = new HashMap<>();
    long bytes = 0;
    for (BucketDocument document : answer.getDocumentsList()) {
      documents.put(document.getKind(), document.getDocument());
      bytes += document.getDocument().size();
    }
    ByteString rules = documents.get(LifecycleDocuments.RULES);
    LifecycleDocuments.Stored lifecycle = rules == null ? null : LifecycleDocuments.read(rules);
    BucketPolicyDocument policy = policy(documents.get(AccessDocument.POLICY.number()));
    return new BucketConfig(
        row,
        policy == null ? null : compile(policy.getText(), row.getName()),
        policy == null ? null : policy.getText(),
        policy != null && policy.getOwnerRemoved(),
        ownership(documents.get(AccessDocument.OWNERSHIP.number())),
        block(documents.get(AccessDocument.PUBLIC_ACCESS_BLOCK.number())),
        Acl.ofDocument(
            documents.getOrDefault(AccessDocument.ACL.number(), ByteString.EMPTY), row.getOwner()),
        lifecycle == null ? null : lifecycle.rules(),
        documents.containsKey(AccessDocument.REQUESTER_PAYS.number()),
        BucketLogging.of(documents.get(AccessDocument.LOGGING.number())),
        BucketEncryption.of(documents.get(AccessDocument.ENCRYPTION.number())),
        lifecycle == null ? bytes : bytes + lifecycle.bytes());
  }

  /** What it says about access, to one caller. */
  BucketAccess access(Requester requester) {
    return new BucketAccess(
        row.getOwner(),
        policy,
        ownerRemoved,
        ownershipInForce(),
        blockInForce(),
        acl.of(requester));
  }

  /** What counts: until it is configured, who writes an object owns it. */
  public ObjectOwnership ownershipInForce() {
    return ownership == null ? ObjectOwnership.OBJECT_WRITER : ownership;
  }

  /** What counts: until it is configured, nothing is blocked. */
  public PublicAccessBlock blockInForce() {
    return block == null ? PublicAccessBlock.NONE : block;
  }

  private static @Nullable BucketPolicyDocument policy(@Nullable ByteString stored) {
    if (stored == null) {
      return null;
    }
    try {
      return BucketPolicyDocument.parseFrom(stored);
    } catch (InvalidProtocolBufferException e) {
      return BucketPolicyDocument.getDefaultInstance();
    }
  }

  private static Policy compile(ByteString text, String bucket) {
    try {
      return Policy.parse(text.toByteArray(), PolicyKind.bucket(bucket));
    } catch (MalformedPolicyException e) {
      return denyAll(bucket);
    }
  }

  private static Policy denyAll(String bucket) {
    try {
      return Policy.parse(
          "{\"Statement\":[{\"Effect\":\"Deny\",\"Principal\":\"*\",\"Action\":\"s3:*\","
              + "\"Resource\":\"*\"}]}",
          PolicyKind.bucket(bucket));
    } catch (MalformedPolicyException e) {
      throw new IllegalStateException(e);
    }
  }

  private static @Nullable ObjectOwnership ownership(@Nullable ByteString stored) {
    if (stored == null) {
      return null;
    }
    try {
      return switch (OwnershipDocument.parseFrom(stored).getRule()) {
        case OWNERSHIP_PREFERRED -> ObjectOwnership.BUCKET_OWNER_PREFERRED;
        case OWNERSHIP_WRITER -> ObjectOwnership.OBJECT_WRITER;
        case OWNERSHIP_ENFORCED, OWNERSHIP_NONE, UNRECOGNIZED ->
            ObjectOwnership.BUCKET_OWNER_ENFORCED;
      };
    } catch (InvalidProtocolBufferException e) {
      return ObjectOwnership.BUCKET_OWNER_ENFORCED;
    }
  }

  private static @Nullable PublicAccessBlock block(@Nullable ByteString stored) {
    if (stored == null) {
      return null;
    }
    try {
      PublicAccessBlockDocument document = PublicAccessBlockDocument.parseFrom(stored);
      return new PublicAccessBlock(
          document.getBlockPublicAcls(),
          document.getIgnorePublicAcls(),
          document.getBlockPublicPolicy(),
          document.getRestrictPublicBuckets());
    } catch (InvalidProtocolBufferException e) {
      return PublicAccessBlock.ALL;
    }
  }
}
