package dev.ashlar.transport.call;

import dev.ashlar.protocol.wire.CallMessage;
import dev.ashlar.protocol.wire.CallMessage.Outcome;
import dev.ashlar.protocol.wire.FrameHeader;
import dev.ashlar.protocol.wire.HandshakeException;
import dev.ashlar.protocol.wire.HandshakeFault;
import dev.ashlar.protocol.wire.HandshakeMessage;
import dev.ashlar.protocol.wire.Message;
import dev.ashlar.protocol.wire.Signal;
import dev.ashlar.protocol.wire.Wire;
import dev.ashlar.protocol.wire.WireFormatException;
import dev.ashlar.transport.frame.FrameConnection;
import dev.ashlar.transport.frame.FrameHandler;
import dev.ashlar.transport.frame.OutgoingData;
import dev.ashlar.transport.frame.OutgoingMessage;
import dev.ashlar.transport.frame.ReceiveTarget;
import dev.ashlar.transport.session.ServerGreeting;
import io.netty.util.collection.LongObjectHashMap;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One connection of a caller, on its event loop: the handshake, and the calls under way. */
final class CallServerConnection implements FrameHandler {
  private final CallServer server;
  private final FrameConnection frames;
  private final ServerGreeting greeting;
  private final ChunkBuffer landing;

  /** Until they are answered. */
  private final LongObjectHashMap<IncomingCall> calls = new LongObjectHashMap<>();

  private long unsentBytes;
  private boolean isGreeting;
  private boolean isWelcome;
  private boolean isClosed;

  CallServerConnection(CallServer server, FrameConnection frames) {
    this.server = server;
    this.frames = frames;
    greeting = server.newGreeting();
    landing = new ChunkBuffer(server.slabs());
  }

  String peer() {
    return frames.peer();
  }

  // ---- For other threads ----

  void close(String why) {
    frames.execute(() -> frames.close(new IOException(why)));
  }

  void answer(IncomingCall call, CallAnswer answer) {
    // If the event loop has ended nobody is there to hear it.
    frames.execute(() -> send(call, answer));
  }

  // ---- Handshake ----

  @Override
  public void connected() {
    isGreeting = server.beginGreeting();
    if (!isGreeting) {
      refuse(greeting.refused(HandshakeFault.BUSY, "too many connections"));
    }
  }

  private void greeted(HandshakeMessage said) throws IOException {
    try {
      switch (said) {
        case HandshakeMessage.Hello hello ->
            frames.send(0, 0, greeting.challenge(hello, frames.channelBinding()));
        case HandshakeMessage.Proof proof -> {
          greeting.check(proof);
          welcome();
        }
        case HandshakeMessage.Challenge other -> throw unexpected(said);
        case HandshakeMessage.Welcome other -> throw unexpected(said);
        case HandshakeMessage.Refusal other -> throw unexpected(said);
      }
    } catch (HandshakeException e) {
      refuse(e);
    }
  }

  private void refuse(HandshakeException why) {
    server.warn("refused " + peer() + ": " + why.getMessage());
    String text = String.valueOf(why.getMessage());
    frames.closeWith(new HandshakeMessage.Refusal(greeting.here(), why.fault(), text), why);
  }

  private void welcome() {
    frames.saltIncoming(greeting.handshake().clientSalt());
    if (!server.beginService()) {
      refuse(greeting.refused(HandshakeFault.BUSY, "too many connections"));
      return;
    }
    isWelcome = true;
    endGreeting();
    HandshakeMessage.Terms terms =
        new HandshakeMessage.Terms(
            server.limits().callsMax(), Wire.DATA_BYTES_MAX, Wire.DATA_BYTES_MAX, List.of());
    frames.send(0, 0, greeting.handshake().welcome(terms));
    frames.saltOutgoing(greeting.handshake().serverSalt());
    frames.established();
  }

  private void endGreeting() {
    if (isGreeting) {
      isGreeting = false;
      server.endGreeting();
    }
  }

  // ---- Calls ----

  @Override
  public @Nullable ReceiveTarget arriving(FrameHeader header, Message message) throws IOException {
    if (message instanceof CallMessage.Call call && isWelcome) {
      begin(header, call).parcel().check(header);
    } else if (message instanceof Signal.Data) {
      receiving(header).parcel().check(header);
    } else if (header.dataBytes() > 0 || isWelcome == message instanceof HandshakeMessage) {
      throw unexpected(message);
    }
    return landing.of(header);
  }

  private IncomingCall begin(FrameHeader header, CallMessage.Call call) throws WireFormatException {
    if (calls.containsKey(header.request())
        || calls.size() >= server.limits().callsMax()
        || header.timeoutMillis() < 1) {
      throw new WireFormatException(call.method() + " as call " + header.request());
    }
    boolean fits = server.reserve(call.length());
    IncomingCall incoming =
        new IncomingCall(
            this,
            greeting.role(),
            call.method(),
            header.request(),
            header.timeoutMillis(),
            new MessageAssembler(call.length(), fits));
    calls.put(incoming.id(), incoming);
    return incoming;
  }

  private IncomingCall receiving(FrameHeader header) throws WireFormatException {
    IncomingCall call = calls.get(header.request());
    if (call == null || call.parcel().isWhole()) {
      throw new WireFormatException(header.type() + " of no call");
    }
    return call;
  }

  private static WireFormatException unexpected(Message message) {
    return new WireFormatException(message.type() + " out of turn");
  }

  @Override
  public void arrived(FrameHeader header, Message message) throws IOException {
    switch (message) {
      case HandshakeMessage said -> greeted(said);
      case CallMessage.Call call -> received(header);
      case Signal.Data data -> received(header);
      case Signal.Cancel cancel -> cancel(calls.get(header.request()));
      default -> throw unexpected(message);
    }
  }

  private void received(FrameHeader header) throws WireFormatException {
    IncomingCall call = receiving(header);
    call.parcel().add(header, landing.slab());
    if (!header.isLast()) {
      return;
    }
    if (call.parcel().isWanted()) {
      server.handler().handle(call);
    } else {
      call.answer(CallAnswer.because(Outcome.OVERLOADED, "no memory left for it"));
    }
  }

  /** No more of it comes. What is there as a whole goes on and is answered as ever. */
  private void cancel(@Nullable IncomingCall call) {
    if (call != null && !call.parcel().isWhole()) {
      call.answer(CallAnswer.because(Outcome.REFUSED, "cancelled"));
    }
  }

  private void send(IncomingCall call, CallAnswer answer) {
    if (isClosed || calls.remove(call.id()) == null) {
      return;
    }
    forget(call);
    byte[] body = answer.body();
    Outcome outcome = answer.outcome();
    if (body.length > Wire.ANSWER_BYTES_MAX) {
      outcome = Outcome.FAILED;
      body = new byte[0];
    } else if (unsentBytes + body.length > server.limits().answerBytesMax()) {
      // A caller that asks for much and does not read: the answer would be kept for it here.
      outcome = outcome == Outcome.DONE ? Outcome.UNKNOWN : outcome;
      body = new byte[0];
    }
    int length = body.length;
    unsentBytes += length;
    OutgoingData data =
        length == 0
            ? null
            : new OutgoingData(List.of(ByteBuffer.wrap(body)), () -> unsentBytes -= length);
    frames.send(
        new OutgoingMessage(0, call.id(), new CallMessage.Answer(outcome, length), data, 0));
  }

  private void forget(IncomingCall call) {
    if (call.parcel().isWanted()) {
      server.release(call.parcel().length());
    }
  }

  // ---- The end ----

  @Override
  public void tick() {
    // Who called waits; whether it still does is checked by who answers.
  }

  @Override
  public void closed(IOException why) {
    isClosed = true;
    boolean isKnown = isWelcome;
    if (isWelcome) {
      server.endService();
    }
    endGreeting();
    calls.values().forEach(this::forget);
    calls.clear();
    landing.close();
    server.closed(this, why, isKnown);
  }
}
