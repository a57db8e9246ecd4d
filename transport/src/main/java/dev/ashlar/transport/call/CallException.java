package dev.ashlar.transport.call;

import java.io.IOException;

/** A call that received no answer. */
public final class CallException extends IOException {
  private static final long serialVersionUID = 1;

  private final boolean isSent;

  public CallException(String message, boolean isSent) {
    super(message);
    this.isSent = isSent;
  }

  /** Whether the other side may have received it, and so may execute it. */
  public boolean isSent() {
    return isSent;
  }
}
