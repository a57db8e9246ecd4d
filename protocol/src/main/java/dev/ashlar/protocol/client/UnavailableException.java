package dev.ashlar.protocol.client;

import org.jspecify.annotations.Nullable;

/** What a request needs, metadata or drives, is not available now. */
public abstract class UnavailableException extends Exception {
  private static final long serialVersionUID = 1;

  protected UnavailableException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
