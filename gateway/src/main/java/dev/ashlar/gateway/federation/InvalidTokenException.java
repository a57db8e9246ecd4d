package dev.ashlar.gateway.federation;

import org.jspecify.annotations.Nullable;

/** A token that says nothing about its bearer; the message can be shown to anybody. */
public final class InvalidTokenException extends Exception {
  private static final long serialVersionUID = 1L;

  private final boolean isExpired;

  private InvalidTokenException(String message, boolean isExpired, @Nullable Throwable cause) {
    super(message, cause);
    this.isExpired = isExpired;
  }

  static InvalidTokenException invalid(String message) {
    return new InvalidTokenException(message, false, null);
  }

  static InvalidTokenException invalid(String message, Throwable cause) {
    return new InvalidTokenException(message, false, cause);
  }

  static InvalidTokenException expired() {
    return new InvalidTokenException(
        "Token expired: current date/time must be before the expiration date/time", true, null);
  }

  /** Whether it was valid once. */
  public boolean isExpired() {
    return isExpired;
  }
}
