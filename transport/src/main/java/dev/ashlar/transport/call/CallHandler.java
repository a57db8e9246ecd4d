package dev.ashlar.transport.call;

/** What a process does with the calls of others. */
public interface CallHandler {
  /** Called on an event loop: has the call answered soon, by another thread. */
  void handle(IncomingCall call);
}
