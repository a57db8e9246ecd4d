package dev.ashlar.gateway.access.policy.decision;

import dev.ashlar.gateway.error.Denial;
import org.jspecify.annotations.Nullable;

/** Whether a request may be served. */
public enum Decision {
  ALLOW(null),

  /** A policy of the caller has a statement that denies the request. */
  IDENTITY_DENY(Denial.IDENTITY),

  /** A policy of the caller's session has a statement that denies the request. */
  SESSION_DENY(Denial.SESSION),

  /** The policy of the bucket has a statement that denies the request. */
  BUCKET_DENY(Denial.BUCKET),

  /** The trust policy of the role has a statement that denies the request. */
  TRUST_DENY(Denial.TRUST),

  /** The bucket is closed to other accounts, because its policy is public. */
  BLOCKED(Denial.BLOCK),

  /** Nothing allows the request. */
  IMPLICIT_DENY(Denial.NONE);

  private final @Nullable Denial why;

  Decision(@Nullable Denial why) {
    this.why = why;
  }

  public boolean isAllowed() {
    return this == ALLOW;
  }

  /** Whether a statement denies the request, whatever else allows it. */
  public boolean isExplicitDeny() {
    return switch (this) {
      case IDENTITY_DENY, SESSION_DENY, BUCKET_DENY, TRUST_DENY -> true;
      case ALLOW, BLOCKED, IMPLICIT_DENY -> false;
    };
  }

  /** Null: it is allowed. */
  public @Nullable Denial why() {
    return why;
  }

  static Decision allowIf(boolean isAllowed) {
    return isAllowed ? ALLOW : IMPLICIT_DENY;
  }
}
