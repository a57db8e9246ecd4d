package dev.ashlar.gateway.access.policy;

/** What a policy says about a request. */
public enum Verdict {
  /** A statement denies; nothing else counts. */
  DENY,

  /** A statement allows the caller itself, or everybody. */
  ALLOW,

  /**
   * A statement allows the account of the caller, but does not name the caller. The account may use
   * this itself; its users and roles need an identity policy for it.
   */
  ALLOW_ACCOUNT,

  /** No statement is about the request: it is denied unless another policy allows it. */
  NO_MATCH
}
