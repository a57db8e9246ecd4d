package dev.ashlar.gateway.access.policy.decision;

import static dev.ashlar.gateway.access.policy.Documents.ACCOUNT;
import static dev.ashlar.gateway.access.policy.Documents.ALICE;
import static dev.ashlar.gateway.access.policy.Documents.ANONYMOUS;
import static dev.ashlar.gateway.access.policy.Documents.BOB;
import static dev.ashlar.gateway.access.policy.Documents.LOGGING;
import static dev.ashlar.gateway.access.policy.Documents.OTHER_ACCOUNT;
import static dev.ashlar.gateway.access.policy.Documents.OTHER_ALICE;
import static dev.ashlar.gateway.access.policy.Documents.OTHER_ROOT;
import static dev.ashlar.gateway.access.policy.Documents.ROOT;
import static dev.ashlar.gateway.access.policy.Documents.SESSION;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.gateway.access.policy.AccessRequest;
import dev.ashlar.gateway.access.policy.Documents;
import dev.ashlar.gateway.access.policy.Policy;
import dev.ashlar.gateway.access.policy.Requester;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The rules of the order of decisions, one by one. */
class AuthorizationTest {
  private static final String ANYTHING = "'Action': 's3:*', 'Resource': '*'}";
  private static final Policy ALLOW_ALL =
      Documents.identityPolicy("{'Effect': 'Allow', " + ANYTHING);
  private static final Policy DENY_ALL = Documents.identityPolicy("{'Effect': 'Deny', " + ANYTHING);
  private static final IdentityPolicies ALLOWED = attached(ALLOW_ALL);
  private static final Policy ONLY_LISTS =
      Documents.sessionPolicy("{'Effect': 'Allow', 'Action': 's3:ListBucket', 'Resource': '*'}");
  private static final AclGrants READ_BY_GROUP =
      new AclGrants(Set.of(), Set.of(AclPermission.READ));
  private static final AclGrants READ_BY_ACCOUNT =
      new AclGrants(Set.of(AclPermission.READ), Set.of());

  private static IdentityPolicies attached(Policy... policies) {
    return new IdentityPolicies(List.of(policies), List.of());
  }

  private static Policy bucketPolicy(String effect, String principal) {
    return Documents.bucketPolicy(
        "{'Effect': '" + effect + "', 'Principal': " + principal + ", " + ANYTHING);
  }

  private static BucketAccess bucket(@Nullable Policy policy) {
    return new BucketAccess(
        "canonical-1",
        policy,
        false,
        ObjectOwnership.OBJECT_WRITER,
        PublicAccessBlock.NONE,
        AclGrants.NONE);
  }

  private static BucketAccess with(PublicAccessBlock block, BucketAccess bucket) {
    return new BucketAccess(
        bucket.owner(),
        bucket.policy(),
        bucket.isOwnerRemoved(),
        bucket.ownership(),
        block,
        bucket.acl());
  }

  private static Decision get(
      Requester requester, IdentityPolicies policies, BucketAccess bucket, AclGrants acl) {
    return Authorization.decide(
        Documents.getObject(requester, "k"),
        policies,
        bucket,
        new ObjectAccess("canonical-1", acl));
  }

  private static Decision get(Requester requester, IdentityPolicies policies, BucketAccess bucket) {
    return get(requester, policies, bucket, AclGrants.NONE);
  }

  private static Decision on(
      String action, Requester requester, IdentityPolicies policies, BucketAccess bucket) {
    AccessRequest request = Documents.request(requester, action, "arn:aws:s3:::bucket");
    return Authorization.decide(request, policies, bucket, null);
  }

  @Test
  void nothingIsAllowedByDefaultExceptToTheRootOfTheOwner() {
    assertEquals(Decision.ALLOW, get(ROOT, IdentityPolicies.NONE, bucket(null)));
    for (Requester other : List.of(ANONYMOUS, ALICE, SESSION, OTHER_ROOT, OTHER_ALICE, LOGGING)) {
      assertEquals(Decision.IMPLICIT_DENY, get(other, IdentityPolicies.NONE, bucket(null)));
    }
  }

  @Test
  void inOneAccountTheIdentityOrTheBucketAllows() {
    Policy toAlice = bucketPolicy("Allow", "{'AWS': '" + ALICE.arn() + "'}");
    assertEquals(Decision.ALLOW, get(ALICE, ALLOWED, bucket(null)));
    assertEquals(Decision.ALLOW, get(ALICE, IdentityPolicies.NONE, bucket(toAlice)));
    assertEquals(Decision.IMPLICIT_DENY, get(BOB, IdentityPolicies.NONE, bucket(toAlice)));
    assertEquals(Decision.ALLOW, get(BOB, IdentityPolicies.NONE, bucket(null), READ_BY_GROUP));
  }

  /** What is granted to the account is passed on to its users by identity policies only. */
  @Test
  void grantToTheOwnAccountIsNoGrantToItsUsers() {
    Policy toAccount = bucketPolicy("Allow", "{'AWS': '" + ACCOUNT + "'}");
    assertEquals(Decision.IMPLICIT_DENY, get(ALICE, IdentityPolicies.NONE, bucket(toAccount)));
    assertEquals(
        Decision.IMPLICIT_DENY, get(ALICE, IdentityPolicies.NONE, bucket(null), READ_BY_ACCOUNT));
  }

  @Test
  void betweenAccountsBothSidesAllow() {
    Policy toAccount = bucketPolicy("Allow", "{'AWS': '" + OTHER_ACCOUNT + "'}");
    assertEquals(Decision.IMPLICIT_DENY, get(OTHER_ALICE, ALLOWED, bucket(null)));
    assertEquals(
        Decision.IMPLICIT_DENY, get(OTHER_ALICE, IdentityPolicies.NONE, bucket(toAccount)));
    assertEquals(Decision.ALLOW, get(OTHER_ALICE, ALLOWED, bucket(toAccount)));
    assertEquals(Decision.ALLOW, get(OTHER_ALICE, ALLOWED, bucket(null), READ_BY_ACCOUNT));
    assertEquals(Decision.ALLOW, get(OTHER_ROOT, IdentityPolicies.NONE, bucket(toAccount)));
    assertEquals(
        Decision.ALLOW, get(OTHER_ROOT, IdentityPolicies.NONE, bucket(null), READ_BY_ACCOUNT));
  }

  @Test
  void explicitDenyWins() {
    BucketAccess denying = bucket(bucketPolicy("Deny", "'*'"));
    assertEquals(Decision.BUCKET_DENY, get(ALICE, ALLOWED, denying));
    assertEquals(Decision.BUCKET_DENY, get(ROOT, IdentityPolicies.NONE, denying));
    assertEquals(Decision.BUCKET_DENY, get(ANONYMOUS, IdentityPolicies.NONE, denying));
    assertEquals(Decision.IDENTITY_DENY, get(ALICE, attached(ALLOW_ALL, DENY_ALL), bucket(null)));
    assertEquals(
        Decision.SESSION_DENY,
        get(SESSION, new IdentityPolicies(List.of(ALLOW_ALL), List.of(DENY_ALL)), bucket(null)));
  }

  @Test
  void rootRepairsThePolicyThatShutsItOut() {
    Policy deny = bucketPolicy("Deny", "'*'");
    BucketAccess removed =
        new BucketAccess(
            "canonical-1",
            deny,
            true,
            ObjectOwnership.OBJECT_WRITER,
            PublicAccessBlock.NONE,
            AclGrants.NONE);
    for (String action :
        List.of("s3:GetBucketPolicy", "s3:PutBucketPolicy", "s3:DeleteBucketPolicy")) {
      assertEquals(Decision.ALLOW, on(action, ROOT, IdentityPolicies.NONE, bucket(deny)));
      assertEquals(Decision.BUCKET_DENY, on(action, ROOT, IdentityPolicies.NONE, removed));
      assertEquals(Decision.BUCKET_DENY, on(action, ALICE, ALLOWED, bucket(deny)));
      assertEquals(
          Decision.BUCKET_DENY, on(action, OTHER_ROOT, IdentityPolicies.NONE, bucket(deny)));
    }
    assertEquals(
        Decision.BUCKET_DENY, on("s3:PutBucketAcl", ROOT, IdentityPolicies.NONE, bucket(deny)));
  }

  @Test
  void sessionPolicyLimitsEverything() {
    IdentityPolicies limited = new IdentityPolicies(List.of(ALLOW_ALL), List.of(ONLY_LISTS));
    BucketAccess open = bucket(bucketPolicy("Allow", "'*'"));
    assertEquals(Decision.ALLOW, on("s3:ListBucket", SESSION, limited, bucket(null)));
    assertEquals(Decision.IMPLICIT_DENY, get(SESSION, limited, bucket(null)));
    assertEquals(Decision.IMPLICIT_DENY, get(SESSION, limited, open, READ_BY_GROUP));
    assertEquals(Decision.ALLOW, get(SESSION, ALLOWED, open));
  }

  @Test
  void anonymousNeedsAPublicPolicyOrAcl() {
    assertEquals(
        Decision.ALLOW,
        get(ANONYMOUS, IdentityPolicies.NONE, bucket(bucketPolicy("Allow", "'*'"))));
    assertEquals(
        Decision.ALLOW, get(ANONYMOUS, IdentityPolicies.NONE, bucket(null), READ_BY_GROUP));
    // An integration that took policies for a caller without an account must not open anything.
    assertEquals(Decision.IMPLICIT_DENY, get(ANONYMOUS, ALLOWED, bucket(null)));
  }

  @Test
  void ignorePublicAclsLeavesGrantsToAccounts() {
    BucketAccess ignoring = with(new PublicAccessBlock(false, true, false, false), bucket(null));
    assertEquals(
        Decision.IMPLICIT_DENY, get(ANONYMOUS, IdentityPolicies.NONE, ignoring, READ_BY_GROUP));
    assertEquals(Decision.IMPLICIT_DENY, get(OTHER_ALICE, ALLOWED, ignoring, READ_BY_GROUP));
    assertEquals(Decision.ALLOW, get(OTHER_ALICE, ALLOWED, ignoring, READ_BY_ACCOUNT));
  }

  /** The example of the S3 user guide: a service, an account and the public in one policy. */
  @Test
  void restrictPublicBucketsClosesABucketWithAPublicPolicyToOtherAccounts() {
    String toService = "{'Effect': 'Allow', 'Principal': {'Service': '" + LOGGING.name() + "'}, ";
    String toOther = "{'Effect': 'Allow', 'Principal': {'AWS': '" + OTHER_ACCOUNT + "'}, ";
    String toPublic = "{'Effect': 'Allow', 'Principal': '*', ";
    PublicAccessBlock restricting = new PublicAccessBlock(false, false, false, true);
    BucketAccess open =
        with(
            restricting,
            bucket(
                Documents.bucketPolicy(
                    toService + ANYTHING, toOther + ANYTHING, toPublic + ANYTHING)));
    assertEquals(Decision.ALLOW, get(LOGGING, IdentityPolicies.NONE, open));
    assertEquals(Decision.ALLOW, get(ALICE, IdentityPolicies.NONE, open));
    assertEquals(Decision.BLOCKED, get(OTHER_ALICE, ALLOWED, open));
    assertEquals(Decision.BLOCKED, get(ANONYMOUS, IdentityPolicies.NONE, open));
    BucketAccess closed =
        with(restricting, bucket(Documents.bucketPolicy(toService + ANYTHING, toOther + ANYTHING)));
    assertEquals(Decision.ALLOW, get(OTHER_ALICE, ALLOWED, closed));
  }

  @Test
  void enforcedOwnershipIgnoresAcls() {
    AclGrants full =
        new AclGrants(Set.of(AclPermission.FULL_CONTROL), Set.of(AclPermission.FULL_CONTROL));
    BucketAccess enforced =
        new BucketAccess(
            "canonical-1",
            null,
            false,
            ObjectOwnership.BUCKET_OWNER_ENFORCED,
            PublicAccessBlock.NONE,
            full);
    assertEquals(Decision.IMPLICIT_DENY, get(OTHER_ALICE, ALLOWED, enforced, full));
    assertEquals(Decision.IMPLICIT_DENY, get(ANONYMOUS, IdentityPolicies.NONE, enforced, full));
    assertEquals(
        Decision.IMPLICIT_DENY, on("s3:ListBucket", ANONYMOUS, IdentityPolicies.NONE, enforced));
  }

  @Test
  void ownerOfAnObjectDecidesAboutItNotTheOwnerOfTheBucket() {
    ObjectAccess foreign = new ObjectAccess("canonical-2", AclGrants.NONE);
    BucketAccess open = bucket(bucketPolicy("Allow", "'*'"));
    assertEquals(
        Decision.IMPLICIT_DENY,
        Authorization.decide(Documents.getObject(ROOT, "k"), IdentityPolicies.NONE, open, foreign));
    assertEquals(
        Decision.IMPLICIT_DENY,
        Authorization.decide(
            Documents.getObject(ANONYMOUS, "k"), IdentityPolicies.NONE, open, foreign));
    assertEquals(
        Decision.ALLOW,
        Authorization.decide(
            Documents.getObject(OTHER_ROOT, "k"), IdentityPolicies.NONE, bucket(null), foreign));
    AccessRequest delete = Documents.request(ROOT, "s3:DeleteObject", "arn:aws:s3:::bucket/k");
    assertEquals(
        Decision.ALLOW, Authorization.decide(delete, IdentityPolicies.NONE, bucket(null), foreign));
  }

  @Test
  void ownAccountIsGovernedByIdentityPolicies() {
    Requester[] refused = {ANONYMOUS, LOGGING, ALICE, SESSION};
    for (Requester requester : refused) {
      assertEquals(
          Decision.IMPLICIT_DENY,
          Authorization.decideInOwnAccount(
              Documents.request(requester, "iam:GetUser", "arn:aws:iam::1:user/a"), ALLOWED));
    }
    AccessRequest list = Documents.request(ALICE, "s3:ListAllMyBuckets", "*");
    assertEquals(Decision.ALLOW, Authorization.decideInOwnAccount(list, ALLOWED));
    assertEquals(
        Decision.IMPLICIT_DENY,
        Authorization.decideInOwnAccount(
            list, new IdentityPolicies(List.of(ALLOW_ALL), List.of(ONLY_LISTS))));
    assertEquals(
        Decision.IDENTITY_DENY,
        Authorization.decideInOwnAccount(list, attached(ALLOW_ALL, DENY_ALL)));
    assertEquals(
        Decision.ALLOW,
        Authorization.decideInOwnAccount(
            Documents.request(ROOT, "iam:GetUser", "*"), IdentityPolicies.NONE));
  }

  @Test
  void trustInTheAccountLeavesTheChoiceToIdentityPolicies() {
    IdentityPolicies mayAssume =
        attached(
            Documents.identityPolicy(
                "{'Effect': 'Allow', 'Action': 'sts:AssumeRole', 'Resource': '*'}"));
    Policy toAccount = trust("{'AWS': '" + ACCOUNT + "'}");
    Policy toAlice = trust("{'AWS': '" + ALICE.arn() + "'}");
    Policy toOther = trust("{'AWS': '" + OTHER_ALICE.arn() + "'}");
    assertEquals(Decision.IMPLICIT_DENY, assume(ALICE, IdentityPolicies.NONE, toAccount));
    assertEquals(Decision.ALLOW, assume(ALICE, mayAssume, toAccount));
    assertEquals(Decision.ALLOW, assume(ALICE, IdentityPolicies.NONE, toAlice));
    assertEquals(Decision.IMPLICIT_DENY, assume(BOB, mayAssume, toAlice));
    assertEquals(Decision.IMPLICIT_DENY, assume(OTHER_ALICE, IdentityPolicies.NONE, toOther));
    assertEquals(Decision.ALLOW, assume(OTHER_ALICE, mayAssume, toOther));
    assertEquals(Decision.IMPLICIT_DENY, assume(ANONYMOUS, mayAssume, trust("'*'")));
    assertEquals(
        Decision.ALLOW,
        assume(
            new Requester.Federated("idp"), IdentityPolicies.NONE, trust("{'Federated': 'idp'}")));
    assertEquals(
        Decision.IMPLICIT_DENY,
        assume(new Requester.Federated("idp"), IdentityPolicies.NONE, toAccount));
    assertEquals(
        Decision.TRUST_DENY,
        assume(
            ALICE,
            mayAssume,
            Documents.trustPolicy(
                "{'Effect': 'Deny', 'Principal': '*', 'Action': 'sts:AssumeRole'}")));
  }

  private static Policy trust(String principal) {
    return Documents.trustPolicy(
        "{'Effect': 'Allow', 'Principal': " + principal + ", 'Action': 'sts:AssumeRole'}");
  }

  private static Decision assume(Requester requester, IdentityPolicies policies, Policy trust) {
    AccessRequest request =
        Documents.request(requester, "sts:AssumeRole", "arn:aws:iam::" + ACCOUNT + ":role/r");
    return Authorization.decideAssumeRole(request, policies, ACCOUNT, trust);
  }
}
