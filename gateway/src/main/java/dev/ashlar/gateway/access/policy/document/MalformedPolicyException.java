package dev.ashlar.gateway.access.policy.document;

/** A policy document that cannot be used. */
public final class MalformedPolicyException extends Exception {
  private final String reason;

  public MalformedPolicyException(String reason) {
    super(reason);
    this.reason = reason;
  }

  /** The place of the element and what is wrong with it, for the author of the policy. */
  public String reason() {
    return reason;
  }
}
