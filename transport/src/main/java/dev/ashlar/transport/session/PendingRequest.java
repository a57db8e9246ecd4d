package dev.ashlar.transport.session;

import dev.ashlar.protocol.trace.CurrentSpan;
import dev.ashlar.protocol.trace.TraceContext;
import dev.ashlar.transport.frame.OutgoingMessage;
import org.jspecify.annotations.Nullable;

/**
 * A request until it is answered. Made on the thread that asks, whose trace is the request's; used
 * on its connection's event loop.
 */
public abstract class PendingRequest {
  private final long deadlineNanos;
  private final @Nullable TraceContext trace = CurrentSpan.parent();
  private long id;
  private @Nullable OutgoingMessage sent;
  private boolean isGivenUp;

  protected PendingRequest(long deadlineNanos) {
    this.deadlineNanos = deadlineNanos;
  }

  protected final long deadlineNanos() {
    return deadlineNanos;
  }

  public final boolean isOverdue(long nowNanos) {
    return nowNanos - deadlineNanos > 0;
  }

  /** Returns the message that sends it under this id. */
  protected abstract OutgoingMessage message(long id);

  /** The message that was made of it; null while it waits. */
  protected final @Nullable OutgoingMessage sent() {
    return sent;
  }

  final OutgoingMessage send(long newId) {
    id = newId;
    OutgoingMessage message = message(newId);
    sent = message;
    return message;
  }

  final @Nullable TraceContext trace() {
    return trace;
  }

  final long id() {
    return id;
  }

  final boolean isGivenUp() {
    return isGivenUp;
  }

  final void giveUp() {
    isGivenUp = true;
  }
}
