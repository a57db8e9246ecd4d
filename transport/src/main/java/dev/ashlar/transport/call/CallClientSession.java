package dev.ashlar.transport.call;

import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.wire.CallMessage;
import dev.ashlar.protocol.wire.FrameHeader;
import dev.ashlar.protocol.wire.HandshakeMessage;
import dev.ashlar.protocol.wire.Message;
import dev.ashlar.protocol.wire.Signal;
import dev.ashlar.protocol.wire.WireFormatException;
import dev.ashlar.transport.frame.OutgoingMessage;
import dev.ashlar.transport.frame.ReceiveTarget;
import dev.ashlar.transport.session.ClientSession;
import io.netty.util.collection.LongObjectHashMap;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** One connection to a process that is called: the calls under way, and those that wait. */
final class CallClientSession extends ClientSession {
  private final CallClient client;
  private final ChunkBuffer chunk;
  private final LongObjectHashMap<OutgoingCall> calls = new LongObjectHashMap<>();

  /** Calls beyond what the server accepts at a time. */
  private final ArrayDeque<OutgoingCall> waiting = new ArrayDeque<>();

  private int callsMax;
  private long lastId;

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
    frames().execute(() -> end(call, client + " did not answer in time"));
  }

  @Override
  protected void established(HandshakeMessage.Terms terms) {
    callsMax = terms.operationsMax();
    client.connected(this);
  }

  // ---- Calls ----

  private void pump() {
    while (calls.size() < callsMax && !waiting.isEmpty()) {
      OutgoingCall call = waiting.remove();
      if (!call.future().isDone()) {
        long id = ++lastId;
        calls.put(id, call);
        frames().send(call.send(id));
      }
    }
  }

  @Override
  protected @Nullable ReceiveTarget target(FrameHeader header, Message message) throws IOException {
    if (message instanceof CallMessage.Answer answer) {
      OutgoingCall call = call(header);
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

  private OutgoingCall call(FrameHeader header) throws WireFormatException {
    OutgoingCall call = calls.get(header.request());
    if (call == null) {
      throw new WireFormatException(header.type() + " answers nothing");
    }
    return call;
  }

  private MessageAssembler answer(FrameHeader header) throws WireFormatException {
    MessageAssembler answer = call(header).answer();
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
      OutgoingCall call = call(header);
      stopSending(call);
      calls.remove(call.id());
      call.answered();
      pump();
    }
  }

  /** Tells the server not to wait for the rest of the call's data. */
  private void stopSending(OutgoingCall call) {
    OutgoingMessage sent = call.outgoing();
    if (sent != null && !sent.isEnded()) {
      sent.cancel();
      frames().send(0, call.id(), new Signal.Cancel());
    }
  }

  /** A call that the server may have seen stays under way until the server has answered it. */
  private void end(OutgoingCall call, String reason) {
    OutgoingMessage sent = call.outgoing();
    if (sent == null) {
      waiting.remove(call);
    } else if (sent.isBegun()) {
      stopSending(call);
    } else {
      sent.cancel();
      calls.remove(call.id());
    }
    call.failed(reason);
  }

  // ---- Time, and the end ----

  @Override
  public void tick() {
    long now = System.nanoTime();
    List<OutgoingCall> all = Stream.concat(waiting.stream(), calls.values().stream()).toList();
    for (OutgoingCall call : all) {
      if (call.isOverdue(now) && !call.future().isDone()) {
        end(call, client + " did not answer in time");
      }
    }
    pump();
  }

  @Override
  protected void ended(IOException reason) {
    client.lost(this);
    chunk.close();
    String text = "the connection to " + client + " is lost: " + reason.getMessage();
    waiting.forEach(call -> call.failed(text));
    waiting.clear();
    calls.values().forEach(call -> call.failed(text));
    calls.clear();
  }
}
