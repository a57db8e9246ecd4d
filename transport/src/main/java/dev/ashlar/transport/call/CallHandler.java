package dev.ashlar.transport.call;

/** Handles the calls of other processes. */
public interface CallHandler {
  /** Called on an event loop, so it must not block: another thread answers the call. */
  void handle(IncomingCall call);
}
