package dev.ashlar.protocol.wire;

import java.io.IOException;

/** Bytes that are no valid message; the connection cannot be used any further. */
public final class WireFormatException extends IOException {
  private static final long serialVersionUID = 1;

  public WireFormatException(String message) {
    super(message);
  }

  /** No stack trace, so that garbage costs little. */
  @Override
  public synchronized Throwable fillInStackTrace() {
    return this;
  }
}
