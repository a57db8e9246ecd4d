package dev.ashlar.storage.server;

import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.memory.Slab;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.wire.CallMessage;
import dev.ashlar.protocol.wire.FrameHeader;
import dev.ashlar.protocol.wire.HandshakeException;
import dev.ashlar.protocol.wire.HandshakeFault;
import dev.ashlar.protocol.wire.HandshakeMessage;
import dev.ashlar.protocol.wire.Message;
import dev.ashlar.protocol.wire.Reply;
import dev.ashlar.protocol.wire.Request;
import dev.ashlar.protocol.wire.Signal;
import dev.ashlar.protocol.wire.WireFormatException;
import dev.ashlar.transport.frame.FrameConnection;
import dev.ashlar.transport.frame.FrameHandler;
import dev.ashlar.transport.frame.OutgoingMessage;
import dev.ashlar.transport.frame.ReceiveTarget;
import dev.ashlar.transport.session.ServerGreeting;
import io.netty.util.collection.LongObjectHashMap;
import java.io.IOException;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** One connection of a client, on its event loop: the handshake, and the requests under way. */
final class ServerConnection implements FrameHandler {
  private final ShardServer server;
  private final FrameConnection frames;
  private final ServerGreeting greeting;
  private final LongObjectHashMap<ServedCall> calls = new LongObjectHashMap<>();
  private final RequestWindows windows;
  private final @Nullable ShardFault[] toldRefusals;
  private @Nullable ClientConnections session;
  private boolean isGreeting;
  private boolean isWelcome;
  private boolean isClosed;

  ServerConnection(ShardServer server) {
    this(server, handler -> new FrameConnection(handler, server.config().times()));
  }

  /** Of a connection that is there already. */
  ServerConnection(ShardServer server, FrameConnection accepted) {
    this(server, handler -> accepted);
  }

  private ServerConnection(ShardServer server, Function<FrameHandler, FrameConnection> framesOf) {
    this.server = server;
    greeting = server.newGreeting();
    frames = framesOf.apply(this);
    int drives = server.drives().size();
    toldRefusals = new ShardFault[drives];
    windows = new RequestWindows(server.config().limits(), drives);
  }

  FrameConnection frames() {
    return frames;
  }

  // ---- For other threads ----

  /** Runs it on the event loop; false if that has ended. */
  boolean execute(Runnable task) {
    return frames.execute(task);
  }

  void supersede() {
    close("superseded by a newer connection of the same client");
  }

  void close(String why) {
    execute(() -> frames.close(new IOException(why)));
  }

  void welcomeSoon() {
    execute(this::welcome);
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
          proved();
        }
        case HandshakeMessage.Challenge other -> throw unexpected(said);
        case HandshakeMessage.Welcome other -> throw unexpected(said);
        case HandshakeMessage.Refusal other -> throw unexpected(said);
      }
    } catch (HandshakeException e) {
      refuse(e);
    }
  }

  private void proved() {
    frames.saltIncoming(greeting.handshake().clientSalt());
    ClientConnections entered = server.session(this, greeting.client());
    if (entered == null) {
      refuse(greeting.refused(HandshakeFault.BUSY, "too many connections"));
    } else {
      session = entered;
      entered.enter(this);
    }
  }

  private void refuse(HandshakeException why) {
    server.warn("refused " + frames.peer() + ": " + why.getMessage());
    String text = String.valueOf(why.getMessage());
    frames.closeWith(new HandshakeMessage.Refusal(greeting.here(), why.fault(), text), why);
  }

  private void welcome() {
    if (isClosed || isWelcome) {
      return;
    }
    isWelcome = true;
    endGreeting();
    HandshakeMessage.Terms terms = server.terms();
    for (int drive = 0; drive < toldRefusals.length; drive++) {
      toldRefusals[drive] = terms.drives().get(drive).refusal();
    }
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

  /** Tells of each drive whose state is another than last told. */
  void tellStates() {
    for (int drive = 0; isWelcome && !isClosed && drive < toldRefusals.length; drive++) {
      ShardFault now = server.refusal(drive);
      if (now != toldRefusals[drive]) {
        toldRefusals[drive] = now;
        frames.send(drive, 0, new Signal.State(now));
      }
    }
  }

  // ---- Requests ----

  @Override
  public @Nullable ReceiveTarget arriving(FrameHeader header, Message message) throws IOException {
    return switch (message) {
      case HandshakeMessage said when !isWelcome && header.dataBytes() == 0 -> null;
      case Request request when isWelcome -> begin(header, request).land(header);
      case Signal.Data data -> {
        ServedCall call = calls.get(header.request());
        if (call == null) {
          throw new WireFormatException("data of no request");
        }
        yield call.land(header);
      }
      default -> {
        if (header.dataBytes() > 0 || !isWelcome || !(message instanceof Signal)) {
          throw unexpected(message);
        }
        yield null;
      }
    };
  }

  private static WireFormatException unexpected(Message message) {
    return new WireFormatException(message.type() + " out of turn");
  }

  private ServedCall begin(FrameHeader header, Request request) throws WireFormatException {
    // Not in ascending order: short requests overtake long ones.
    boolean isNew = !calls.containsKey(header.request());
    if (!isNew || header.drive() >= toldRefusals.length || header.timeoutMillis() < 1) {
      throw new WireFormatException(request.type() + " as request " + header.request());
    }
    long reserved = 0;
    if (request instanceof Request.Read read) {
      reserved = SlabPool.slabBytes(read.length() + ShardServer.READ_OVERHEAD_BYTES);
    } else if (request.dataBytes() > 0) {
      reserved = SlabPool.slabBytes(request.dataBytes());
    }
    boolean fits = server.budget().tryReserve(reserved);
    Slab slab = null;
    if (fits && request.dataBytes() > 0) {
      slab = slab(request.dataBytes());
      fits = slab != null;
      server.budget().release(fits ? 0 : reserved);
    }
    ServedCall call = new ServedCall(header, request, slab, fits ? reserved : 0);
    calls.put(call.id(), call);
    windows.enter(call);
    if (!fits) {
      fail(call, ShardFault.OVERLOADED, "the node has no memory left for it");
      if (request.dataBytes() == 0) {
        calls.remove(call.id());
      }
    }
    return call;
  }

  private @Nullable Slab slab(int bytes) {
    try {
      return server.slabs().acquire(bytes);
    } catch (OutOfMemoryError e) {
      // Of direct memory, which others hold for now: the request is refused like all beyond a
      // bound.
      server.warn("no direct memory for " + bytes + " bytes: " + e.getMessage());
      return null;
    }
  }

  @Override
  public void arrived(FrameHeader header, Message message) throws IOException {
    switch (message) {
      case HandshakeMessage said -> greeted(said);
      case Request request -> received(header);
      case Signal.Data data -> received(header);
      case Signal.Cancel cancel -> cancel(calls.get(header.request()));
      case Signal.State state -> throw unexpected(message);
      case Signal.Ping ping -> throw unexpected(message);
      case Signal.Pong pong -> throw unexpected(message);
      case Reply reply -> throw unexpected(message);
      case CallMessage exchange -> throw unexpected(message);
    }
  }

  private void received(FrameHeader header) throws WireFormatException {
    ServedCall call = calls.get(header.request());
    if (call == null || !header.isLast()) {
      return;
    }
    if (call.state() == ServedCall.State.REFUSED) {
      calls.remove(call.id());
    } else {
      start(call);
    }
  }

  private void start(ServedCall call) throws WireFormatException {
    String obstacle = obstacle(call);
    if (obstacle != null) {
      fail(call, ShardFault.UNAVAILABLE, obstacle);
      calls.remove(call.id());
      return;
    }
    DriveRequest request;
    try {
      request = DriveRequest.of(server, this, call);
    } catch (IllegalArgumentException e) {
      throw new WireFormatException(call.request().type() + ": " + e.getMessage());
    }
    call.state(ServedCall.State.AT_DRIVE);
    request.start();
  }

  /** Why the drive is not even asked. */
  private @Nullable String obstacle(ServedCall call) {
    ClientConnections client = session;
    if (call.isOverdue()) {
      return "it came too late";
    }
    if (!call.isRead() && client != null && client.hasAbandoned(call.drive())) {
      return "an earlier change was given up and has not ended";
    }
    return server.isClosing() ? "the node is shutting down" : null;
  }

  private void cancel(@Nullable ServedCall call) {
    if (call == null || call.isCancelled()) {
      return;
    }
    call.cancel();
    switch (call.state()) {
      case RECEIVING -> {
        fail(call, ShardFault.UNAVAILABLE, "cancelled");
        calls.remove(call.id());
      }
      case REFUSED -> calls.remove(call.id());
      case AT_DRIVE -> abandon(call);
      case ANSWERING -> {
        OutgoingMessage answer = call.answer();
        if (answer != null && !answer.isEnded()) {
          answer.cancel();
          reply(call, new Reply.Failed(ShardFault.UNAVAILABLE, "cancelled"));
        }
      }
    }
  }

  private void abandon(ServedCall call) {
    ClientConnections client = session;
    if (!call.isRead() && client != null) {
      client.abandon(call.drive());
    }
  }

  // ---- Answers ----

  /** Answers before the drive was asked; what still comes of the request is skipped. */
  private void fail(ServedCall call, ShardFault fault, String why) {
    Slab slab = call.takeSlab();
    if (slab != null) {
      slab.release();
    }
    call.state(ServedCall.State.REFUSED);
    server.budget().release(call.reservedBytes());
    windows.leave(call);
    reply(call, new Reply.Failed(fault, why));
  }

  private void reply(ServedCall call, Reply reply) {
    frames.send(call.drive(), call.id(), reply);
  }

  /** The drive has done with it. */
  void ended(ServedCall call, Reply reply) {
    ClientConnections client = session;
    if ((isClosed || call.isCancelled()) && !call.isRead() && client != null) {
      client.settle(call.drive());
      server.forgetIfIdle(greeting.client(), client);
    }
    if (!isClosed) {
      calls.remove(call.id());
      windows.leave(call);
      reply(call, reply);
      if (reply instanceof Reply.Failed) {
        tellStates();
      }
    }
  }

  /** The drive has read what was asked for; false if nobody wants it any more. */
  boolean answer(ServedCall call, OutgoingMessage bytes) {
    if (isClosed) {
      return false;
    }
    if (call.isCancelled()) {
      ended(call, new Reply.Failed(ShardFault.UNAVAILABLE, "cancelled"));
      return false;
    }
    call.answer(bytes);
    frames.send(bytes);
    return true;
  }

  /** Nothing refers to the memory of the answer any more. */
  void answered(ServedCall call) {
    if (!isClosed) {
      calls.remove(call.id());
      windows.leave(call);
    }
  }

  static Reply.Failed failure(ShardException e) {
    return new Reply.Failed(e.fault(), String.valueOf(e.getMessage()));
  }

  // ---- The end ----

  @Override
  public void tick() {
    tellStates();
  }

  @Override
  public void closed(IOException why) {
    isClosed = true;
    endGreeting();
    for (ServedCall call : List.copyOf(calls.values())) {
      if (call.state() == ServedCall.State.RECEIVING) {
        Slab slab = call.takeSlab();
        if (slab != null) {
          slab.release();
        }
        server.budget().release(call.reservedBytes());
      } else if (call.state() == ServedCall.State.AT_DRIVE && !call.isCancelled()) {
        abandon(call);
      }
    }
    calls.clear();
    server.closed(this, why);
    ClientConnections client = session;
    if (client != null) {
      client.leave(this);
      server.forgetIfIdle(greeting.client(), client);
    }
  }

  boolean isWelcome() {
    return isWelcome;
  }
}
