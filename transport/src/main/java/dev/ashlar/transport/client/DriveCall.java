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
import dev.ashlar.transport.session.PendingRequest;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One request to a drive until it is answered. Created on the caller's thread; used on its
 * connection's event loop.
 */
abstract class DriveCall extends PendingRequest {
  private static final Logger LOG = LoggerFactory.getLogger(DriveCall.class);

  private final RemoteShardStore store;
  private final Request request;
  private @Nullable DriveRequestWindow window;

  DriveCall(RemoteShardStore store, Request request, long deadlineNanos) {
    super(deadlineNanos);
    this.store = store;
    this.request = request;
  }

  final RemoteShardStore store() {
    return store;
  }

  final Request request() {
    return request;
  }

  /** It has ended, so that its place is free. */
  final void leave() {
    store.left(request.windowBytes());
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

  @Override
  protected final OutgoingMessage message(long id) {
    return new OutgoingMessage(window().place, id, request, data(), deadlineNanos());
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
      LOG.error("A completion threw an exception.", e);
    }
  }
}
