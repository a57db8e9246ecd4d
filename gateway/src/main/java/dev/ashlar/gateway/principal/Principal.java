package dev.ashlar.gateway.principal;

import dev.ashlar.gateway.access.policy.Requester;
import dev.ashlar.gateway.access.policy.decision.IdentityPolicies;
import dev.ashlar.protocol.message.AccountRow;
import dev.ashlar.protocol.message.IdentityRow;
import org.jspecify.annotations.Nullable;

/**
 * Who signed a request, and the policies on that side.
 *
 * @param accessKey with which the request is signed
 * @param identity the user, or the role of a session; null: the root user of the account
 * @param session null unless the request has a session token
 */
public record Principal(
    String accessKey,
    AccountRow account,
    @Nullable IdentityRow identity,
    @Nullable Session session,
    Requester.Identity requester,
    IdentityPolicies policies) {

  /** The root user of an account, whom nothing but the policies of buckets limits. */
  public static Principal root(String accessKey, String accountId, String canonicalId) {
    return new Principal(
        accessKey,
        AccountRow.newBuilder().setId(accountId).setCanonicalId(canonicalId).build(),
        null,
        null,
        new Requester.Root(accountId, canonicalId),
        IdentityPolicies.NONE);
  }

  public String accountId() {
    return account.getId();
  }

  public boolean isRoot() {
    return identity == null;
  }

  /** As policies name it: arn:aws:iam::ACCOUNT:root, of a user, or of a session of a role. */
  public String arn() {
    return switch (requester) {
      case Requester.Root root -> Arns.ofRoot(root.accountId());
      case Requester.User user -> user.arn();
      case Requester.RoleSession role -> role.sessionArn();
    };
  }

  /** The unique id: that of the account for its root user, AROA…:SESSION for a role's session. */
  public String userId() {
    if (identity == null) {
      return account.getId();
    }
    return requester instanceof Requester.RoleSession role
        ? identity.getId() + ":" + role.sessionName()
        : identity.getId();
  }
}
