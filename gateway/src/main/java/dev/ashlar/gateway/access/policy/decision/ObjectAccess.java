package dev.ashlar.gateway.access.policy.decision;

/**
 * What a stored object says about access to it.
 *
 * @param ownerAccountId 12 digits
 * @param acl what the ACL of the object grants to the caller
 */
public record ObjectAccess(String ownerAccountId, AclGrants acl) {}
