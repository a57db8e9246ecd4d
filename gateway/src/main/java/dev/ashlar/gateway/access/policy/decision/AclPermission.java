package dev.ashlar.gateway.access.policy.decision;

/** What an ACL grants. */
public enum AclPermission {
  READ,
  WRITE,
  READ_ACP,
  WRITE_ACP,
  FULL_CONTROL
}
