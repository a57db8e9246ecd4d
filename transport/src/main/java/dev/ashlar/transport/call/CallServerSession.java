package dev.ashlar.transport.call;

import dev.ashlar.protocol.wire.CallMessage;
import dev.ashlar.protocol.wire.CallMessage.Outcome;
import dev.ashlar.protocol.wire.FrameHeader;
import dev.ashlar.protocol.wire.HandshakeException;
import dev.ashlar.protocol.wire.HandshakeMessage;
import dev.ashlar.protocol.wire.Message;
import dev.ashlar.protocol.wire.Signal;
import dev.ashlar.protocol.wire.Wire;
import dev.ashlar.protocol.wire.WireFormatException;
import dev.ashlar.transport.frame.FrameConnection;
import dev.ashlar.transport.frame.OutgoingData;
import dev.ashlar.transport.frame.OutgoingMessage;
import dev.ashlar.transport.frame.ReceiveTarget;
import dev.ashlar.transport.session.ServerSession;
import io.netty.util.collection.LongObjectHashMap;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One connection of a caller, on its event loop: the calls that are not answered yet. */
final class CallServerSession extends ServerSession {
  private final CallServer server;
  private final ChunkBuffer chunk;
  private final LongObjectHashMap<IncomingCall> calls = new LongObjectHashMap<>();
  private long unsentBytes;

  CallServerSession(CallServer server, FrameConnection frames) {
    super(server.sessions, frames);
    this.server = server;
    chunk = new ChunkBuffer(server.slabs);
  }

  /** For any thread. */
  void answer(IncomingCall call, CallAnswer answer) {
    // If the event loop has ended, nobody waits for the answer.
    execute(() -> send(call, answer));
  }

  @Override
  protected void authenticated() throws HandshakeException {
    if (!server.sessions.hasRoom()) {
      throw busy();
    }
    establish(
        new HandshakeMessage.Terms(
            server.limits.callsMax(), Wire.DATA_BYTES_MAX, Wire.DATA_BYTES_MAX, List.of()));
  }

  @Override
  protected @Nullable ReceiveTarget target(FrameHeader header, Message message) throws IOException {
    if (message instanceof CallMessage.Call call) {
      begin(header, call).assembler.check(header);
    } else if (message instanceof Signal.Data) {
      receiving(header).assembler.check(header);
    } else if (header.dataBytes() > 0) {
      throw unexpected(message);
    }
    return chunk.target(header);
  }

  private IncomingCall begin(FrameHeader header, CallMessage.Call call) throws WireFormatException {
    if (calls.containsKey(header.request())
        || calls.size() >= server.limits.callsMax()
        || header.timeoutMillis() < 1) {
      throw new WireFormatException(call.method() + " as call " + header.request());
    }
    boolean fits = server.budget.tryReserve(call.length());
    IncomingCall incoming =
        new IncomingCall(
            this,
            client().role(),
            call.method(),
            header.request(),
            header.timeoutMillis(),
            frames().trace(),
            new MessageAssembler(call.length(), fits));
    calls.put(incoming.id, incoming);
    return incoming;
  }

  private IncomingCall receiving(FrameHeader header) throws WireFormatException {
    IncomingCall call = calls.get(header.request());
    if (call == null || call.assembler.isWhole()) {
      throw new WireFormatException(header.type() + " of no call");
    }
    return call;
  }

  @Override
  protected void received(FrameHeader header, Message message) throws IOException {
    switch (message) {
      case CallMessage.Call call -> take(header);
      case Signal.Data data -> take(header);
      case Signal.Cancel cancel -> cancel(calls.get(header.request()));
      default -> throw unexpected(message);
    }
  }

  private void take(FrameHeader header) throws WireFormatException {
    IncomingCall call = receiving(header);
    call.assembler.add(header, chunk.slab());
    if (!header.isLast()) {
      return;
    }
    if (call.assembler.isWanted()) {
      server.handler.handle(call);
    } else {
      call.answer(CallAnswer.because(Outcome.OVERLOADED, "no memory left for it"));
    }
  }

  /** Answers a call whose data will not come; a complete one is answered by its handler. */
  private void cancel(@Nullable IncomingCall call) {
    if (call != null && !call.assembler.isWhole()) {
      call.answer(CallAnswer.because(Outcome.REFUSED, "cancelled"));
    }
  }

  private void send(IncomingCall call, CallAnswer answer) {
    if (isClosed() || calls.remove(call.id) == null) {
      return;
    }
    forget(call);
    byte[] body = answer.body();
    Outcome outcome = answer.outcome();
    if (body.length > Wire.ANSWER_BYTES_MAX) {
      outcome = Outcome.FAILED;
      body = new byte[0];
    } else if (unsentBytes + body.length > server.limits.answerBytesMax()) {
      // The caller asks for much and does not read: its answers would pile up here.
      outcome = outcome == Outcome.DONE ? Outcome.UNKNOWN : outcome;
      body = new byte[0];
    }
    int length = body.length;
    unsentBytes += length;
    OutgoingData data =
        length == 0
            ? null
            : new OutgoingData(List.of(ByteBuffer.wrap(body)), () -> unsentBytes -= length);
    frames()
        .send(new OutgoingMessage(0, call.id, new CallMessage.Answer(outcome, length), data, 0));
  }

  private void forget(IncomingCall call) {
    if (call.assembler.isWanted()) {
      server.budget.release(call.assembler.length());
    }
  }

  @Override
  public void tick() {
    // The caller waits, and whoever answers checks whether it still does.
  }

  @Override
  protected void ended() {
    calls.values().forEach(this::forget);
    calls.clear();
    chunk.close();
  }
}
