package dev.ashlar.gateway.access.policy.decision;

import java.util.Set;

/**
 * What an ACL grants to one caller.
 *
 * @param toAccount grants to the canonical user id of the caller's account, or to the group that
 *     delivers logs
 * @param toGroups grants to AllUsers and, if the request is signed, to AuthenticatedUsers: what
 *     IgnorePublicAcls takes away
 */
public record AclGrants(Set<AclPermission> toAccount, Set<AclPermission> toGroups) {
  public static final AclGrants NONE = new AclGrants(Set.of(), Set.of());

  public AclGrants {
    toAccount = Set.copyOf(toAccount);
    toGroups = Set.copyOf(toGroups);
  }

  boolean grantsToAccount(AclPermission permission) {
    return has(toAccount, permission);
  }

  /** Whether AllUsers or AuthenticatedUsers are granted this, or all. */
  public boolean grantsToGroups(AclPermission permission) {
    return has(toGroups, permission);
  }

  private static boolean has(Set<AclPermission> granted, AclPermission permission) {
    return granted.contains(permission) || granted.contains(AclPermission.FULL_CONTROL);
  }
}
