package dev.ashlar.gateway.access.policy.decision;

/**
 * What a stored object says about access to it.
 *
 * @param owner canonical user id of its account
 * @param acl what the ACL of the object grants to the caller
 */
public record ObjectAccess(String owner, AclGrants acl) {}
