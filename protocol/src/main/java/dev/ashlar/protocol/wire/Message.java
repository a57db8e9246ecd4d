package dev.ashlar.protocol.wire;

/** What one side of a connection sends to the other. */
public sealed interface Message permits HandshakeMessage, Request, Reply, CallMessage, Signal {
  default MessageType type() {
    return MessageType.of(this);
  }
}
