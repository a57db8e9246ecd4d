package dev.ashlar.gateway.access;

import dev.ashlar.gateway.access.acl.Acl;
import dev.ashlar.gateway.access.policy.AccessRequest;
import dev.ashlar.gateway.access.policy.Requester;
import dev.ashlar.gateway.access.policy.decision.AclGrants;
import dev.ashlar.gateway.access.policy.decision.AclPermission;
import dev.ashlar.gateway.access.policy.decision.Authorization;
import dev.ashlar.gateway.access.policy.decision.Decision;
import dev.ashlar.gateway.access.policy.decision.ObjectAccess;
import dev.ashlar.gateway.access.policy.decision.ObjectOwnership;
import dev.ashlar.gateway.access.policy.value.ConditionContext;
import dev.ashlar.protocol.message.ObjectRecord;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Decides about one caller and one bucket, as both were read.
 *
 * @param config null for what is not in a bucket: nothing is allowed then
 */
record Decider(Caller caller, @Nullable BucketConfig config) {
  private static final String PUT_OBJECT_ACL = "s3:PutObjectAcl";
  private static final AclGrants TO_ANYONE =
      new AclGrants(Set.of(), Set.of(AclPermission.FULL_CONTROL));
  private static final String REQUEST_PAYER = "s3:x-amz-request-payer";

  /** Whether the caller pays for the request: the bucket demands it of all other accounts. */
  boolean isCharged() {
    return config != null
        && config.requesterPays()
        && !caller.canonicalId().equals(config.row().getOwner());
  }

  /** Whether the caller agrees to pay, which nobody can who is not known. */
  boolean agreesToPay() {
    return !caller.isAnonymous() && !caller.facts().values(REQUEST_PAYER).isEmpty();
  }

  /** Whether the caller may do all of it; not for stored objects. */
  boolean isAllowed(Need need) {
    return decide(need).isAllowed();
  }

  /** Whether the caller may do all of it with this stored object. */
  boolean isAllowed(Need need, ObjectRecord object) {
    return decide(need, object).isAllowed();
  }

  /** Decides about all of it, and says what denies the first action that is denied. */
  Decision decide(Need need) {
    for (String action : need.actions()) {
      Decision decision =
          (action.equals(PUT_OBJECT_ACL) && need.resource() instanceof Need.Resource.Key)
              ? aboutNewAcl(need)
              : decide(action, need, null);
      if (!decision.isAllowed()) {
        return decision;
      }
    }
    return Decision.ALLOW;
  }

  /** The same for a stored object. */
  Decision decide(Need need, ObjectRecord object) {
    String owner = object.getSummary().getOwner();
    if (isOwnersOwn(owner)) {
      return Decision.ALLOW;
    }
    Acl acl = Acl.ofDocument(object.getFacts().getAcl(), owner);
    ObjectAccess access = new ObjectAccess(owner, acl.of(caller.requester()));
    Decider ofObject = new Decider(caller.meeting(object.getFacts().getTagsList()), config);
    for (String action : need.actions()) {
      Decision decision = ofObject.decide(action, need, access);
      if (!decision.isAllowed()) {
        return decision;
      }
    }
    return Decision.ALLOW;
  }

  /**
   * Whether the caller may learn that nothing is stored under this key: as if it listed the bucket
   * with the key as the prefix.
   *
   * @param action the listing, of keys or of versions
   */
  boolean mayMiss(String action, String bucket, String key) {
    ConditionContext facts = caller.facts();
    Caller listing =
        new Caller(
            caller.accessKey(),
            caller.canonicalId(),
            caller.principal(),
            name -> name.equals("s3:prefix") ? List.of(key) : facts.values(name),
            null);
    Need list = Need.of(action, new Need.Resource.Bucket(bucket));
    return new Decider(listing, config).isAllowed(list);
  }

  /** Whether a policy forbids some of it, whatever else allows it. */
  boolean isDenied(Need need) {
    return need.actions().stream().anyMatch(action -> decide(action, need, null).isExplicitDeny());
  }

  /**
   * Whether the caller may give an ACL to the object that it writes. What it writes is its own, so
   * that it needs nothing from the bucket for that; a policy of the bucket can forbid it. An
   * anonymous caller has no account that could allow it, so that the ACL of the bucket has to let
   * anyone write.
   */
  private Decision aboutNewAcl(Need need) {
    Decision decision = decide(PUT_OBJECT_ACL, need, null);
    if (decision.isAllowed() || decision.isExplicitDeny() || config == null) {
      return decision;
    }
    boolean isAnyones =
        caller.isAnonymous()
            && config.access(caller.requester()).acl().grantsToGroups(AclPermission.WRITE);
    ObjectAccess own =
        new ObjectAccess(caller.canonicalId(), isAnyones ? TO_ANYONE : AclGrants.NONE);
    return decide(PUT_OBJECT_ACL, need, own);
  }

  private Decision decide(String action, Need need, @Nullable ObjectAccess object) {
    if (config == null) {
      return Decision.IMPLICIT_DENY;
    }
    return isOwnersOwn(object == null ? config.row().getOwner() : object.owner())
        ? Decision.ALLOW
        : evaluate(config, action, need, object);
  }

  private Decision evaluate(
      BucketConfig config, String action, Need need, @Nullable ObjectAccess object) {
    Requester requester = caller.requester();
    return Authorization.decide(
        new AccessRequest(
            requester,
            action,
            need.resource().arn(),
            ActionFacts.of(action, VersionFacts.of(caller.facts(), need.resource().version()))),
        caller.policies(),
        config.access(requester),
        object);
  }

  /**
   * Whether nothing can stand against the caller: the root of the bucket's owner, without a policy
   * of the bucket. This is the common case, and is told without evaluating anything.
   *
   * @param objectOwner of the object in question, or of the bucket
   */
  private boolean isOwnersOwn(String objectOwner) {
    return config != null
        && config.policy() == null
        && caller.requester() instanceof Requester.Root root
        && caller.policies().session().isEmpty()
        && caller.policies().attached().isEmpty()
        && root.canonicalId().equals(config.row().getOwner())
        && (objectOwner.equals(root.canonicalId())
            || config.ownership() == ObjectOwnership.BUCKET_OWNER_ENFORCED);
  }
}
