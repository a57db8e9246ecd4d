package dev.ashlar.transport.client;

import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.wire.FrameHeader;
import dev.ashlar.protocol.wire.Reply;
import dev.ashlar.protocol.wire.Request;
import dev.ashlar.protocol.wire.WireFormatException;
import dev.ashlar.transport.frame.OutgoingData;
import dev.ashlar.transport.frame.OutgoingMessage;
import dev.ashlar.transport.frame.ReceiveTarget;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One request to a drive until it is answered. Created on the caller's thread; used on its
 * connection's event loop.
 */
abstract class DriveCall {
  private static final Logger LOG = LoggerFactory.getLogger(DriveCall.class);

  private final Request request;
  private final long deadlineNanos;
  private long id;
  private @Nullable DriveRequestWindow window;
  private boolean isGivenUp;
  private @Nullable OutgoingMessage outgoing;

  DriveCall(Request request, long deadlineNanos) {
    this.request = request;
    this.deadlineNanos = deadlineNanos;
  }

  final Request request() {
    return request;
  }

  final long deadlineNanos() {
    return deadlineNanos;
  }

  final boolean isOverdue(long nowNanos) {
    return nowNanos - deadlineNanos > 0;
  }

  /** Whether it changes nothing: a read or a listing. */
  abstract boolean isRead();

  /** The bytes of the drive's window that it occupies while it is under way. */
  abstract int windowBytes();

  final long id() {
    return id;
  }

  final @Nullable OutgoingMessage outgoing() {
    return outgoing;
  }

  final DriveRequestWindow window() {
    DriveRequestWindow known = window;
    if (known == null) {
      throw new IllegalStateException("the call has no window yet");
    }
    return known;
  }

  final void window(DriveRequestWindow newWindow) {
    window = newWindow;
  }

  final boolean isGivenUp() {
    return isGivenUp;
  }

  final void giveUp() {
    isGivenUp = true;
  }

  /** Returns the message that sends it. */
  final OutgoingMessage send(long newId) {
    id = newId;
    OutgoingMessage message =
        new OutgoingMessage(window().place(), newId, request, data(), deadlineNanos);
    outgoing = message;
    return message;
  }

  /** The data sent with the request. */
  @Nullable OutgoingData data() {
    return null;
  }

  /**
   * Returns where the next data of its answer goes; null: the caller has stopped waiting.
   *
   * @param length of the whole answer
   */
  @Nullable ReceiveTarget target(int length, FrameHeader header) throws WireFormatException {
    throw new WireFormatException(request.type() + " is answered with data");
  }

  /** The answer is complete. */
  abstract void answered(Reply reply) throws WireFormatException;

  /** Fails it unless it has ended already. */
  abstract void failed(ShardException failure);

  final void failed(ShardFault fault, String why) {
    failed(new ShardException(fault, why));
  }

  /** Runs a completion, which is foreign code. */
  static void tell(Runnable completion) {
    try {
      completion.run();
    } catch (RuntimeException e) {
      LOG.error("a completion threw", e);
    }
  }
}
