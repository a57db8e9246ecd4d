package dev.ashlar.transport.call;

import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.wire.CallMessage;
import dev.ashlar.protocol.wire.FrameHeader;
import dev.ashlar.protocol.wire.HandshakeMessage;
import dev.ashlar.protocol.wire.Message;
import dev.ashlar.protocol.wire.Signal;
import dev.ashlar.protocol.wire.WireFormatException;
import dev.ashlar.transport.frame.ReceiveTarget;
import dev.ashlar.transport.session.ClientSession;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One connection to a process that is called: the calls under way, and those that wait. */
final class CallClientSession extends ClientSession<OutgoingCall> {
  private final CallClient client;
  private final ChunkBuffer chunk;

  /** Calls beyond what the server accepts at a time. */
  private final ArrayDeque<OutgoingCall> waiting = new ArrayDeque<>();

  private int callsMax;

  CallClientSession(CallClient client, Options options, SlabPool slabs) {
    super(options, List.of());
    this.client = client;
    chunk = new ChunkBuffer(slabs);
  }

  // ---- For other threads ----

  /** Takes the call over; false if the connection has ended. */
  boolean begin(OutgoingCall call) {
    return frames()
        .execute(
            () -> {
              if (isClosed()) {
                call.failed("the connection to " + client + " is lost");
              } else {
                waiting.add(call);
                pump();
              }
            });
  }

  /** Abandons a call whose caller has stopped waiting. */
  void abandon(OutgoingCall call) {
    frames()
        .execute(
            () -> {
              if (!call.future().isDone()) {
                giveUp(call);
              }
            });
  }

  @Override
  protected void established(HandshakeMessage.Terms terms) {
    callsMax = terms.operationsMax();
    client.connected(this);
  }

  // ---- Calls ----

  private void pump() {
    while (countUnderWay() < callsMax && !waiting.isEmpty()) {
      OutgoingCall call = waiting.remove();
      if (!call.future().isDone()) {
        send(call);
      }
    }
  }

  @Override
  protected @Nullable ReceiveTarget target(FrameHeader header, Message message) throws IOException {
    if (message instanceof CallMessage.Answer answer) {
      OutgoingCall call = request(header);
      if (call.answer() != null) {
        throw unexpected(message);
      }
      call.answering(answer).check(header);
    } else if (message instanceof Signal.Data) {
      answer(header).check(header);
    } else if (header.dataBytes() > 0) {
      throw unexpected(message);
    }
    return chunk.target(header);
  }

  private MessageAssembler answer(FrameHeader header) throws WireFormatException {
    MessageAssembler answer = request(header).answer();
    if (answer == null) {
      throw new WireFormatException(header.type() + " of no answer");
    }
    return answer;
  }

  @Override
  protected void received(FrameHeader header, Message message) throws IOException {
    switch (message) {
      case CallMessage.Answer answer -> take(header);
      case Signal.Data data -> take(header);
      default -> throw unexpected(message);
    }
  }

  private void take(FrameHeader header) throws WireFormatException {
    answer(header).add(header, chunk.slab());
    if (header.isLast()) {
      OutgoingCall call = request(header);
      stopSending(call);
      remove(call);
      call.answered();
      pump();
    }
  }

  // ---- Time, and the end ----

  @Override
  public void tick() {
    long now = System.nanoTime();
    waiting.stream().filter(call -> call.isOverdue(now)).toList().forEach(this::giveUp);
    giveUpOverdue(now);
    pump();
  }

  @Override
  protected void overdue(OutgoingCall call, boolean isRemoved) {
    waiting.remove(call);
    call.failed(client + " did not answer in time");
  }

  @Override
  protected void ended(List<OutgoingCall> unanswered, IOException reason) {
    client.lost(this);
    chunk.close();
    String text = "the connection to " + client + " is lost: " + reason.getMessage();
    waiting.forEach(call -> call.failed(text));
    waiting.clear();
    unanswered.forEach(call -> call.failed(text));
  }
}
