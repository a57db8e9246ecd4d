package dev.ashlar.protocol.wire;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Two sides do not speak to each other; the message names both. */
public final class HandshakeException extends IOException {
  private static final long serialVersionUID = 1;

  private final HandshakeFault fault;

  public HandshakeException(HandshakeFault fault, String message) {
    super(fault + ": " + message);
    this.fault = fault;
  }

  /**
   * @param there null: it did not come to say who it is
   */
  public static HandshakeException between(
      HandshakeFault fault, PeerIdentity here, @Nullable PeerIdentity there, String why) {
    String peer = there == null ? "an unknown peer" : there.toString();
    return new HandshakeException(fault, why + " (here: " + here + "; there: " + peer + ")");
  }

  public HandshakeFault fault() {
    return fault;
  }

  /** An expected answer: where it was met says nothing, and whoever causes many pays for them. */
  @Override
  public synchronized Throwable fillInStackTrace() {
    return this;
  }
}
