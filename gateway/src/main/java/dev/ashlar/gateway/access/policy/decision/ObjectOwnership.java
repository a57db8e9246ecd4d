package dev.ashlar.gateway.access.policy.decision;

/** To whom new objects of a bucket belong, and whether ACLs count. */
public enum ObjectOwnership {
  /** All objects belong to the owner of the bucket; ACLs do not count. */
  BUCKET_OWNER_ENFORCED,

  /**
   * Objects belong to the owner of the bucket if they are written with bucket-owner-full-control.
   */
  BUCKET_OWNER_PREFERRED,

  /** Objects belong to the account that wrote them. */
  OBJECT_WRITER
}
