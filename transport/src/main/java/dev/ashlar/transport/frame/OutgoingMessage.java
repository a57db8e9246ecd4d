package dev.ashlar.transport.frame;

import dev.ashlar.protocol.wire.Message;
import org.jspecify.annotations.Nullable;

/** A message on its way out, with the data behind it. Used on its connection's event loop. */
public final class OutgoingMessage {
  private final int drive;
  private final long request;
  private final Message message;
  private final @Nullable OutgoingData data;
  private final long deadlineNanos;
  private boolean isBegun;
  private boolean isCancelled;
  private boolean isEnded;

  /**
   * @param deadlineNanos until when it is waited for what it asks; 0 if it asks for nothing
   */
  public OutgoingMessage(
      int drive, long request, Message message, @Nullable OutgoingData data, long deadlineNanos) {
    this.drive = drive;
    this.request = request;
    this.message = message;
    this.data = data;
    this.deadlineNanos = deadlineNanos;
  }

  int drive() {
    return drive;
  }

  long request() {
    return request;
  }

  Message message() {
    return message;
  }

  @Nullable OutgoingData data() {
    return data;
  }

  long deadlineNanos() {
    return deadlineNanos;
  }

  /** Whether the peer may have heard of it. */
  public boolean isBegun() {
    return isBegun;
  }

  void begin() {
    isBegun = true;
  }

  /** Whether all of it was handed out, or nothing more will be. */
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

  /** What has not been sent stays unsent; its memory is given back as soon as it can be. */
  public void cancel() {
    isCancelled = true;
  }
}
