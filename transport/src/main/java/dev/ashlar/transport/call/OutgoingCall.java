package dev.ashlar.transport.call;

import dev.ashlar.protocol.wire.CallMessage;
import dev.ashlar.protocol.wire.CallMessage.Method;
import dev.ashlar.protocol.wire.CallMessage.Outcome;
import dev.ashlar.transport.frame.OutgoingData;
import dev.ashlar.transport.frame.OutgoingMessage;
import dev.ashlar.transport.session.PendingRequest;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A call until it is answered. Used on its connection's event loop, except its future. */
final class OutgoingCall extends PendingRequest {
  private final Method method;
  private final byte[] body;
  private final CompletableFuture<CallAnswer> future = new CompletableFuture<>();
  private @Nullable Outcome outcome;
  private @Nullable MessageAssembler answer;

  OutgoingCall(Method method, byte[] body, long deadlineNanos) {
    super(deadlineNanos);
    this.method = method;
    this.body = body;
  }

  CompletableFuture<CallAnswer> future() {
    return future;
  }

  @Override
  protected OutgoingMessage message(long id) {
    OutgoingData data =
        body.length == 0 ? null : new OutgoingData(List.of(ByteBuffer.wrap(body)), () -> {});
    return new OutgoingMessage(
        0, id, new CallMessage.Call(method, body.length), data, deadlineNanos());
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
    OutgoingMessage outgoing = sent();
    boolean isSent = outgoing != null && outgoing.isBegun();
    future.completeExceptionally(new CallException(why, isSent));
  }
}
