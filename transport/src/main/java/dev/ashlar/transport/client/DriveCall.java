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
 * One request to a drive, from when it is asked for until it is answered. Made on the caller's
 * thread; everything else happens on its connection's event loop.
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

  /** Whether it waits for bytes or a listing, and changes nothing. */
  abstract boolean isRead();

  /** What it takes of the drive's window while it is under way. */
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
      throw new IllegalStateException("not begun");
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

  /** The message to send it with. */
  final OutgoingMessage send(long newId) {
    id = newId;
    OutgoingMessage message =
        new OutgoingMessage(window().place(), newId, request, data(), deadlineNanos);
    outgoing = message;
    return message;
  }

  /** What is sent with the request. */
  @Nullable OutgoingData data() {
    return null;
  }

  /**
   * Where the next data of its answer goes; null: nobody waits for it any more.
   *
   * @param length of the whole answer, where it begins
   */
  @Nullable ReceiveTarget target(int length, FrameHeader header) throws WireFormatException {
    throw new WireFormatException(request.type() + " is answered with data");
  }

  /** All of the answer is there. */
  abstract void answered(Reply reply) throws WireFormatException;

  /** It ends without an answer. Nothing, if it has ended before. */
  abstract void failed(ShardException failure);

  final void failed(ShardFault fault, String why) {
    failed(new ShardException(fault, why));
  }

  /** Runs what belongs to others. */
  static void tell(Runnable completion) {
    try {
      completion.run();
    } catch (RuntimeException e) {
      LOG.error("a completion threw", e);
    }
  }
}
