package dev.ashlar.protocol.wire;

import java.io.IOException;

/**
 * Bytes that are no message of this protocol; nothing behind them on the connection has a meaning.
 */
public final class WireFormatException extends IOException {
  private static final long serialVersionUID = 1;

  public WireFormatException(String message) {
    super(message);
  }

  /** Whoever sends garbage shall not make us walk stacks. */
  @Override
  public synchronized Throwable fillInStackTrace() {
    return this;
  }
}
