package dev.ashlar.transport.call;

import dev.ashlar.protocol.wire.CallMessage;
import dev.ashlar.protocol.wire.CallMessage.Method;
import dev.ashlar.protocol.wire.CallMessage.Outcome;
import dev.ashlar.transport.frame.OutgoingData;
import dev.ashlar.transport.frame.OutgoingMessage;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A call until it is answered. Used on its connection's event loop, except its future. */
final class OutgoingCall {
  private final Method method;
  private final byte[] body;
  private final long deadlineNanos;
  private final CompletableFuture<CallAnswer> future = new CompletableFuture<>();
  private long id;
  private @Nullable OutgoingMessage outgoing;
  private @Nullable Outcome outcome;
  private @Nullable MessageAssembler answer;

  OutgoingCall(Method method, byte[] body, long deadlineNanos) {
    this.method = method;
    this.body = body;
    this.deadlineNanos = deadlineNanos;
  }

  CompletableFuture<CallAnswer> future() {
    return future;
  }

  boolean isOverdue(long nowNanos) {
    return nowNanos - deadlineNanos > 0;
  }

  OutgoingMessage send(long newId) {
    id = newId;
    OutgoingData data =
        body.length == 0 ? null : new OutgoingData(List.of(ByteBuffer.wrap(body)), () -> {});
    OutgoingMessage message =
        new OutgoingMessage(0, id, new CallMessage.Call(method, body.length), data, deadlineNanos);
    outgoing = message;
    return message;
  }

  long id() {
    return id;
  }

  @Nullable OutgoingMessage outgoing() {
    return outgoing;
  }

  /** The first frame of its answer has arrived. */
  MessageAssembler answering(CallMessage.Answer begun) {
    MessageAssembler assembler = new MessageAssembler(begun.length(), true);
    outcome = begun.outcome();
    answer = assembler;
    return assembler;
  }

  @Nullable MessageAssembler answer() {
    return answer;
  }

  /** The answer is complete. */
  void answered() {
    if (outcome != null && answer != null) {
      future.complete(new CallAnswer(outcome, answer.bytes()));
    }
  }

  /** Fails it unless it has ended already. */
  void failed(String why) {
    boolean isSent = outgoing != null && outgoing.isBegun();
    future.completeExceptionally(new CallException(why, isSent));
  }
}
