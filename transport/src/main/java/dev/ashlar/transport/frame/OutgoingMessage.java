package dev.ashlar.transport.frame;

import dev.ashlar.protocol.trace.TraceContext;
import dev.ashlar.protocol.wire.Message;
import org.jspecify.annotations.Nullable;

/** A message to be sent, with the data behind it. Used on its connection's event loop. */
public final class OutgoingMessage {
  final int drive;
  final long request;
  final Message message;
  final @Nullable OutgoingData data;
  final long deadlineNanos;
  private @Nullable TraceContext trace;
  private boolean isBegun;
  private boolean isCancelled;
  private boolean isEnded;

  /**
   * @param deadlineNanos when its sender stops waiting for an answer; 0: expects none
   */
  public OutgoingMessage(
      int drive, long request, Message message, @Nullable OutgoingData data, long deadlineNanos) {
    this.drive = drive;
    this.request = request;
    this.message = message;
    this.data = data;
    this.deadlineNanos = deadlineNanos;
  }

  /** The trace that the peer is told of with it. */
  @Nullable TraceContext trace() {
    return trace;
  }

  /**
   * Tells the peer of this trace; before it is sent.
   *
   * @param of null: of none
   */
  public void trace(@Nullable TraceContext of) {
    trace = of;
  }

  /** Whether a part of it was sent, so that the peer may act on it. */
  public boolean isBegun() {
    return isBegun;
  }

  void begin() {
    isBegun = true;
  }

  /** Whether all of it was sent, or nothing more will be. */
  public boolean isEnded() {
    return isEnded;
  }

  void end() {
    isEnded = true;
    if (data != null) {
      data.end();
    }
  }

  boolean isCancelled() {
    return isCancelled;
  }

  /** Sends no more of it; its memory is released as soon as the channel is done with it. */
  public void cancel() {
    isCancelled = true;
  }
}
