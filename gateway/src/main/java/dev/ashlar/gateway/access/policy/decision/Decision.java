package dev.ashlar.gateway.access.policy.decision;

/** Whether a request may be served. */
public enum Decision {
  ALLOW,

  /** A policy has a statement that denies the request. */
  EXPLICIT_DENY,

  /** Nothing allows the request. */
  IMPLICIT_DENY;

  public boolean isAllowed() {
    return this == ALLOW;
  }

  static Decision allowIf(boolean isAllowed) {
    return isAllowed ? ALLOW : IMPLICIT_DENY;
  }
}
