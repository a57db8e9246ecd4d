package dev.ashlar.transport.call;

import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.wire.CallMessage;
import dev.ashlar.protocol.wire.FrameHeader;
import dev.ashlar.protocol.wire.HandshakeMessage;
import dev.ashlar.protocol.wire.Message;
import dev.ashlar.protocol.wire.PeerIdentity;
import dev.ashlar.protocol.wire.Role;
import dev.ashlar.protocol.wire.Signal;
import dev.ashlar.protocol.wire.Wire;
import dev.ashlar.protocol.wire.WireFormatException;
import dev.ashlar.transport.frame.OutgoingMessage;
import dev.ashlar.transport.frame.ReceiveTarget;
import dev.ashlar.transport.session.ClientSession;
import io.netty.util.collection.LongObjectHashMap;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** One connection to a process that is called: the handshake, and the calls under way. */
final class CallConnection extends ClientSession {
  private final CallClient client;
  private final ChunkBuffer landing;
  private final LongObjectHashMap<OutgoingCall> calls = new LongObjectHashMap<>();

  /** What the server takes at a time is under way; the rest waits here. */
  private final ArrayDeque<OutgoingCall> waiting = new ArrayDeque<>();

  private int callsMax;
  private boolean isClosed;
  private long lastId;

  CallConnection(CallClient client, CallClientConfig config, UUID instance, SlabPool slabs) {
    super(
        new Way(config.frames(), config.connect(), config.tls()),
        new PeerIdentity(Wire.VERSION, config.role(), config.cluster(), instance),
        config.secret(),
        Role.METADATA,
        List.of());
    this.client = client;
    landing = new ChunkBuffer(slabs);
  }

  // ---- For other threads ----

  /** Takes the call over; false if the connection has ended. */
  boolean begin(OutgoingCall call) {
    return frames()
        .execute(
            () -> {
              if (isClosed) {
                call.failed("the connection to " + client + " is lost");
              } else {
                waiting.add(call);
                pump();
              }
            });
  }

  /** Nobody waits for it any more. */
  void giveUp(OutgoingCall call) {
    frames().execute(() -> end(call, client + " did not answer in time"));
  }

  @Override
  protected void welcomed(HandshakeMessage.Welcome welcome) {
    callsMax = welcome.terms().operationsMax();
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
  public @Nullable ReceiveTarget arriving(FrameHeader header, Message message) throws IOException {
    if (message instanceof CallMessage.Answer answer) {
      OutgoingCall call = call(header);
      if (call.answer() != null) {
        throw unexpected(message);
      }
      call.answering(answer).check(header);
    } else if (message instanceof Signal.Data) {
      parcel(header).check(header);
    } else if (header.dataBytes() > 0) {
      throw unexpected(message);
    }
    return landing.of(header);
  }

  private OutgoingCall call(FrameHeader header) throws WireFormatException {
    OutgoingCall call = calls.get(header.request());
    if (call == null) {
      throw new WireFormatException(header.type() + " answers nothing");
    }
    return call;
  }

  private MessageAssembler parcel(FrameHeader header) throws WireFormatException {
    MessageAssembler parcel = call(header).answer();
    if (parcel == null) {
      throw new WireFormatException(header.type() + " of no answer");
    }
    return parcel;
  }

  @Override
  public void arrived(FrameHeader header, Message message) throws IOException {
    switch (message) {
      case HandshakeMessage said -> greeted(said);
      case CallMessage.Answer answer -> received(header);
      case Signal.Data data -> received(header);
      default -> throw unexpected(message);
    }
  }

  private void received(FrameHeader header) throws WireFormatException {
    parcel(header).add(header, landing.slab());
    if (header.isLast()) {
      OutgoingCall call = call(header);
      stopSending(call);
      calls.remove(call.id());
      call.answered();
      pump();
    }
  }

  /** The server has to be told where data that it expects will not come. */
  private void stopSending(OutgoingCall call) {
    OutgoingMessage sent = call.outgoing();
    if (sent != null && !sent.isEnded()) {
      sent.cancel();
      frames().send(0, call.id(), new Signal.Cancel());
    }
  }

  /** What the server may have begun it will answer yet; until then it counts as under way. */
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
  public void closed(IOException reason) {
    isClosed = true;
    client.lost(this);
    landing.close();
    String text = "the connection to " + client + " is lost: " + reason.getMessage();
    waiting.forEach(call -> call.failed(text));
    waiting.clear();
    calls.values().forEach(call -> call.failed(text));
    calls.clear();
    ended(reason);
  }
}
