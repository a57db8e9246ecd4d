package dev.ashlar.protocol.wire;

/** What one side tells the other. */
public sealed interface Message permits HandshakeMessage, Request, Reply, CallMessage, Signal {
  MessageType type();
}
