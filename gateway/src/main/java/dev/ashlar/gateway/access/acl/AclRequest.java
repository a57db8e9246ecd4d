package dev.ashlar.gateway.access.acl;

import dev.ashlar.gateway.access.policy.decision.AclPermission;
import java.util.List;

/** The ACL that a request asks for, as it is written there. */
public sealed interface AclRequest {
  /** The request says nothing of an ACL in its headers. */
  record None() implements AclRequest {}

  /** An ACL by its name. */
  record Canned(CannedAcl acl) implements AclRequest {}

  /** Grants that are written out. */
  record Grants(List<Written> grants) implements AclRequest {
    public Grants {
      grants = List.copyOf(grants);
    }
  }

  /** How a grantee is written. */
  enum Form {
    CANONICAL_ID,
    EMAIL,
    GROUP_URI
  }

  /** A grant whose grantee has not been looked up. */
  record Written(Form form, String grantee, AclPermission permission) {}

  static AclRequest none() {
    return new None();
  }

  /** Whether an ACL is asked for. */
  default boolean isGiven() {
    return !(this instanceof None);
  }
}
