package dev.ashlar.protocol.wire;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** The handshake failed; the message names both sides. */
public final class HandshakeException extends IOException {
  private static final long serialVersionUID = 1;

  private final HandshakeFault fault;

  public HandshakeException(HandshakeFault fault, String message) {
    super(fault + ": " + message);
    this.fault = fault;
  }

  /**
   * @param there null: it has not identified itself
   */
  public static HandshakeException between(
      HandshakeFault fault, PeerIdentity here, @Nullable PeerIdentity there, String why) {
    String peer = there == null ? "an unknown peer" : there.toString();
    return new HandshakeException(fault, why + " (here: " + here + "; there: " + peer + ")");
  }

  public HandshakeFault fault() {
    return fault;
  }

  /** No stack trace: it is an expected answer, and peers can cause many. */
  @Override
  public synchronized Throwable fillInStackTrace() {
    return this;
  }
}
