package dev.ashlar.gateway.access.policy.decision;

import dev.ashlar.gateway.access.policy.AccessRequest;
import dev.ashlar.gateway.access.policy.Policy;
import dev.ashlar.gateway.access.policy.Requester;
import dev.ashlar.gateway.access.policy.Verdict;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Combines all that has a say about a request, in the order of AWS: an explicit deny anywhere wins;
 * then inside one account the side of the caller or of the resource has to allow, and between
 * accounts both have to.
 */
public final class Authorization {
  /**
   * An owner who is shut out by the policy of a bucket can still repair it, and nobody of another
   * account can put one that shuts the owner out.
   */
  private static final Set<String> POLICY_ACTIONS =
      Set.of("s3:getbucketpolicy", "s3:putbucketpolicy", "s3:deletebucketpolicy");

  private Authorization() {}

  /** Decides about what is not a bucket: what the caller does with its own account. */
  public static Decision decideInOwnAccount(AccessRequest request, IdentityPolicies policies) {
    if (!(request.requester() instanceof Requester.Identity)) {
      return Decision.IMPLICIT_DENY;
    }
    IdentityPolicies.Answer caller = policies.evaluate(request);
    Decision denial = caller.denial();
    return denial == null
        ? Decision.allowIf(caller.isAllowed() && caller.isInsideSession())
        : denial;
  }

  /**
   * Decides about a bucket, a key or a stored object.
   *
   * @param object null unless the request is about an object that is stored
   */
  public static Decision decide(
      AccessRequest request,
      IdentityPolicies policies,
      BucketAccess bucket,
      @Nullable ObjectAccess object) {
    if (isRescue(request, bucket)) {
      return Decision.ALLOW;
    }
    IdentityPolicies.Answer caller = policies.evaluate(request);
    Policy policy = bucket.policy();
    Verdict ofBucket = policy == null ? Verdict.NO_MATCH : policy.evaluate(request);
    Decision denial = denial(caller, ofBucket, Decision.BUCKET_DENY);
    if (denial != null) {
      return denial;
    }
    boolean isOwners = bucket.isRestricted() || POLICY_ACTIONS.contains(request.actionName());
    if (isOwners && !isOfOwner(request.requester(), bucket)) {
      return bucket.isRestricted() ? Decision.BLOCKED : Decision.IMPLICIT_DENY;
    }
    String owner = decidingOwner(request, bucket, object);
    // The policy of a bucket cannot give away objects that belong to somebody else.
    Verdict verdict = owner.equals(bucket.owner()) ? ofBucket : Verdict.NO_MATCH;
    Acl acl = Acl.of(request, bucket, object);
    return Decision.allowIf(
        switch (request.requester()) {
          case Requester.Anonymous a -> verdict == Verdict.ALLOW || acl.toGroups();
          case Requester.Service s -> verdict == Verdict.ALLOW || acl.toAccount();
          case Requester.Federated f -> false;
          case Requester.Identity identity ->
              caller.isInsideSession()
                  && (identity.canonicalId().equals(owner)
                      ? caller.isAllowed() || verdict == Verdict.ALLOW || acl.toGroups()
                      : caller.isAllowed() && (isAllowing(verdict) || acl.toAnyone()));
        });
  }

  /**
   * Decides whether a role may be assumed. A trust policy that names the account of the role leaves
   * it to identity policies which of its users may.
   *
   * @param request sts:AssumeRole or one of its kin, on the ARN of the role
   */
  public static Decision decideAssumeRole(
      AccessRequest request, IdentityPolicies policies, String roleAccountId, Policy trust) {
    IdentityPolicies.Answer caller = policies.evaluate(request);
    Verdict verdict = trust.evaluate(request);
    Decision denial = denial(caller, verdict, Decision.TRUST_DENY);
    if (denial != null) {
      return denial;
    }
    return Decision.allowIf(
        switch (request.requester()) {
          case Requester.Anonymous a -> false;
          case Requester.Service s -> verdict == Verdict.ALLOW;
          case Requester.Federated f -> verdict == Verdict.ALLOW;
          case Requester.Identity identity ->
              caller.isInsideSession()
                  && isAllowing(verdict)
                  && (caller.isAllowed()
                      || (verdict == Verdict.ALLOW && identity.accountId().equals(roleAccountId)));
        });
  }

  /**
   * The statement that denies, the caller's own first; null: there is none.
   *
   * @param ofResource the outcome if the policy of the resource denies
   */
  private static @Nullable Decision denial(
      IdentityPolicies.Answer caller, Verdict resource, Decision ofResource) {
    Decision own = caller.denial();
    if (own != null) {
      return own;
    }
    return resource == Verdict.DENY ? ofResource : null;
  }

  private static boolean isRescue(AccessRequest request, BucketAccess bucket) {
    return request.requester() instanceof Requester.Root root
        && root.canonicalId().equals(bucket.owner())
        && !bucket.isOwnerRemoved()
        && POLICY_ACTIONS.contains(request.actionName());
  }

  private static boolean isOfOwner(Requester requester, BucketAccess bucket) {
    return requester instanceof Requester.Service
        || (requester instanceof Requester.Identity identity
            && identity.canonicalId().equals(bucket.owner()));
  }

  private static String decidingOwner(
      AccessRequest request, BucketAccess bucket, @Nullable ObjectAccess object) {
    if (object == null
        || bucket.ownership() == ObjectOwnership.BUCKET_OWNER_ENFORCED
        || !AclRule.isDecidedByObjectOwner(request.actionName())) {
      return bucket.owner();
    }
    return object.owner();
  }

  private static boolean isAllowing(Verdict verdict) {
    return verdict == Verdict.ALLOW || verdict == Verdict.ALLOW_ACCOUNT;
  }

  /** What the ACL that is about the action grants for it. */
  private record Acl(boolean toAccount, boolean toGroups) {
    private static final Acl NOTHING = new Acl(false, false);

    static Acl of(AccessRequest request, BucketAccess bucket, @Nullable ObjectAccess object) {
      AclRule rule = AclRule.of(request.actionName());
      if (rule == null || bucket.ownership() == ObjectOwnership.BUCKET_OWNER_ENFORCED) {
        return NOTHING;
      }
      AclGrants ofObject = object == null ? AclGrants.NONE : object.acl();
      AclGrants grants = rule.isOfObject() ? ofObject : bucket.acl();
      return new Acl(
          grants.grantsToAccount(rule.permission()),
          grants.grantsToGroups(rule.permission()) && !bucket.block().ignorePublicAcls());
    }

    boolean toAnyone() {
      return toAccount || toGroups;
    }
  }
}
