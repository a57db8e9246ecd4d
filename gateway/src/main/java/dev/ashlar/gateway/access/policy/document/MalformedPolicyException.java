package dev.ashlar.gateway.access.policy.document;

/** A policy document that cannot be used. The message names the element and the reason. */
public final class MalformedPolicyException extends Exception {
  public MalformedPolicyException(String message) {
    super(message);
  }
}
