package dev.ashlar.storage.server;

import dev.ashlar.protocol.memory.Slab;
import dev.ashlar.protocol.trace.TraceContext;
import dev.ashlar.protocol.wire.FrameHeader;
import dev.ashlar.protocol.wire.Request;
import dev.ashlar.protocol.wire.WireFormatException;
import dev.ashlar.transport.frame.OutgoingMessage;
import dev.ashlar.transport.frame.ReceiveTarget;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** One request, from the arrival of its header to its answer. Used on the event loop. */
final class ServedCall {
  private final int drive;
  private final long id;
  private final Request request;
  private final long deadlineNanos;
  private final long reservedBytes;
  private final @Nullable TraceContext trace;
  private @Nullable Slab slab;
  private State state = State.RECEIVING;
  private int announced;
  private boolean isCancelled;
  private @Nullable OutgoingMessage answer;

  enum State {
    RECEIVING,
    /** Answered already; the rest of its data is discarded. */
    REFUSED,
    AT_DRIVE,
    ANSWERING
  }

  /**
   * @param slab receives its data; null if it has none
   * @param reservedBytes bytes of the budget, for its data or its answer
   * @param trace the span of the client that waits for it; null: it is not traced
   */
  ServedCall(
      FrameHeader header,
      Request request,
      @Nullable Slab slab,
      long reservedBytes,
      @Nullable TraceContext trace) {
    this.drive = header.drive();
    this.id = header.request();
    this.request = request;
    this.slab = slab;
    this.reservedBytes = reservedBytes;
    this.trace = trace;
    this.deadlineNanos = System.nanoTime() + header.timeoutMillis() * 1_000_000L;
  }

  int drive() {
    return drive;
  }

  long id() {
    return id;
  }

  Request request() {
    return request;
  }

  long reservedBytes() {
    return reservedBytes;
  }

  @Nullable TraceContext trace() {
    return trace;
  }

  boolean isOverdue() {
    return System.nanoTime() - deadlineNanos > 0;
  }

  State state() {
    return state;
  }

  void state(State next) {
    state = next;
  }

  boolean isCancelled() {
    return isCancelled;
  }

  void cancel() {
    isCancelled = true;
  }

  @Nullable OutgoingMessage answer() {
    return answer;
  }

  void answer(OutgoingMessage newAnswer) {
    answer = newAnswer;
    state = State.ANSWERING;
  }

  /** Returns where the data of this frame goes; null: it is discarded. */
  @Nullable ReceiveTarget target(FrameHeader header) throws WireFormatException {
    int at = announced;
    boolean isWhole = header.isLast() == (at + header.dataBytes() == request.dataBytes());
    boolean isMore = header.dataBytes() > 0 || request.dataBytes() == 0;
    if (!isWhole || !isMore || (state != State.RECEIVING && state != State.REFUSED)) {
      throw new WireFormatException(
          request.type() + " with " + header.dataBytes() + " bytes of data at " + at);
    }
    announced += header.dataBytes();
    Slab target = state == State.RECEIVING ? slab : null;
    return target == null ? null : new ReceiveTarget(target, at);
  }

  /** All of its data, in memory that the drive may use without a copy. */
  ByteBuffer data() {
    Slab filled = slab;
    if (filled == null) {
      throw new IllegalStateException(request.type() + " without data");
    }
    return filled.buffer().limit(request.dataBytes());
  }

  @Nullable Slab slab() {
    return slab;
  }

  /** Hands the slab over to the caller; null if there is none. */
  @Nullable Slab takeSlab() {
    Slab taken = slab;
    slab = null;
    return taken;
  }

  void releaseSlab() {
    Slab taken = takeSlab();
    if (taken != null) {
      taken.release();
    }
  }
}
