package dev.ashlar.protocol.wire;

/** What one side tells the other. */
public sealed interface Message permits Greeting, Request, Reply, Exchange, Signal {
  MessageType type();
}
