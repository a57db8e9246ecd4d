package dev.ashlar.storage.server;

import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.memory.Slab;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.wire.FrameHeader;
import dev.ashlar.protocol.wire.HandshakeException;
import dev.ashlar.protocol.wire.HandshakeMessage;
import dev.ashlar.protocol.wire.Message;
import dev.ashlar.protocol.wire.Reply;
import dev.ashlar.protocol.wire.Request;
import dev.ashlar.protocol.wire.Signal;
import dev.ashlar.protocol.wire.WireFormatException;
import dev.ashlar.transport.frame.FrameConnection;
import dev.ashlar.transport.frame.OutgoingMessage;
import dev.ashlar.transport.frame.ReceiveTarget;
import dev.ashlar.transport.session.ServerSession;
import io.netty.util.collection.LongObjectHashMap;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** One connection of a client, on its event loop: the requests under way. */
final class ShardServerSession extends ServerSession {
  private final ShardServer server;
  private final LongObjectHashMap<ServedCall> calls = new LongObjectHashMap<>();
  private final List<Window> reads = new ArrayList<>();
  private final List<Window> changes = new ArrayList<>();
  private final @Nullable ShardFault[] sentRefusals;
  private @Nullable ClientConnections client;

  ShardServerSession(ShardServer server, FrameConnection frames) {
    super(server.sessions(), frames);
    this.server = server;
    int drives = server.drives().size();
    sentRefusals = new ShardFault[drives];
    for (int drive = 0; drive < drives; drive++) {
      reads.add(new Window());
      changes.add(new Window());
    }
  }

  /** The requests that the connection has under way at one drive, either reads or changes. */
  private static final class Window {
    /** Tolerance, because the client counts a request until its answer has arrived. */
    static final int SLACK = 2;

    int operations;
    long bytes;
  }

  private Window window(ServedCall call) {
    return (call.request().isRead() ? reads : changes).get(call.drive());
  }

  /** Counts one more request; fails if the client exceeds the terms. */
  private void enter(ServedCall call) throws WireFormatException {
    ShardServerConfig.Limits limits = server.config().limits();
    long bytesMax = call.request().isRead() ? limits.readBytesMax() : limits.writeBytesMax();
    Window window = window(call);
    window.operations++;
    window.bytes += call.request().windowBytes();
    if (window.operations > Window.SLACK * limits.operationsMax()
        || window.bytes > Window.SLACK * bytesMax) {
      throw new WireFormatException("more requests under way than the terms allow");
    }
  }

  private void leave(ServedCall call) {
    Window window = window(call);
    window.operations--;
    window.bytes -= call.request().windowBytes();
  }

  // ---- Start ----

  @Override
  protected void authenticated() throws HandshakeException {
    UUID instance = client().instance();
    if (!server.sessions().hasRoom() && !server.isKnown(instance)) {
      throw busy();
    }
    ClientConnections all = server.register(instance, this);
    client = all;
    all.enter(this);
  }

  /** Called by any thread when the client's older connections have ended. */
  void establishSoon() {
    execute(this::establish);
  }

  private void establish() {
    if (isClosed() || isEstablished()) {
      return;
    }
    HandshakeMessage.Terms terms = server.terms();
    for (int drive = 0; drive < sentRefusals.length; drive++) {
      sentRefusals[drive] = terms.drives().get(drive).refusal();
    }
    establish(terms);
  }

  void supersede() {
    close("superseded by a newer connection of the same client");
  }

  /** Tells the client of each drive whose state has changed since it was last told. */
  void sendStates() {
    for (int drive = 0; isEstablished() && !isClosed() && drive < sentRefusals.length; drive++) {
      ShardFault now = server.refusal(drive);
      if (now != sentRefusals[drive]) {
        sentRefusals[drive] = now;
        frames().send(drive, 0, new Signal.State(now));
      }
    }
  }

  // ---- Requests ----

  @Override
  protected @Nullable ReceiveTarget target(FrameHeader header, Message message) throws IOException {
    if (message instanceof Request request) {
      return begin(header, request).target(header);
    }
    if (message instanceof Signal.Data) {
      ServedCall call = calls.get(header.request());
      if (call == null) {
        throw new WireFormatException("data without a request");
      }
      return call.target(header);
    }
    if (header.dataBytes() > 0 || !(message instanceof Signal)) {
      throw unexpected(message);
    }
    return null;
  }

  private ServedCall begin(FrameHeader header, Request request) throws WireFormatException {
    // Numbers do not ascend, because short requests overtake long ones.
    boolean isNew = !calls.containsKey(header.request());
    if (!isNew || header.drive() >= sentRefusals.length || header.timeoutMillis() < 1) {
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
    ServedCall call = new ServedCall(header, request, slab, fits ? reserved : 0, frames().trace());
    calls.put(call.id(), call);
    enter(call);
    if (!fits) {
      fail(call, ShardFault.OVERLOADED, "the node has no memory for the request");
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
      // Others hold all direct memory for now: the request is refused like any overload.
      server.sessions().warn("no direct memory for " + bytes + " bytes: " + e.getMessage());
      return null;
    }
  }

  @Override
  protected void received(FrameHeader header, Message message) throws IOException {
    switch (message) {
      case Request request -> startIfComplete(header);
      case Signal.Data data -> startIfComplete(header);
      case Signal.Cancel cancel -> cancel(calls.get(header.request()));
      default -> throw unexpected(message);
    }
  }

  private void startIfComplete(FrameHeader header) throws WireFormatException {
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

  /** Why the request is not passed to the drive; null if it is. */
  private @Nullable String obstacle(ServedCall call) {
    ClientConnections all = client;
    if (call.isOverdue()) {
      return "the request arrived after its deadline";
    }
    if (!call.request().isRead() && all != null && all.hasAbandoned(call.drive())) {
      return "an earlier, abandoned change has not ended";
    }
    return server.sessions().isClosing() ? "the node is shutting down" : null;
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
    ClientConnections all = client;
    if (!call.request().isRead() && all != null) {
      all.abandon(call.drive());
    }
  }

  // ---- Answers ----

  /** Answers without asking the drive; the rest of the request's data is discarded. */
  private void fail(ServedCall call, ShardFault fault, String why) {
    call.releaseSlab();
    call.state(ServedCall.State.REFUSED);
    server.budget().release(call.reservedBytes());
    leave(call);
    reply(call, new Reply.Failed(fault, why));
  }

  private void reply(ServedCall call, Reply reply) {
    frames().send(call.drive(), call.id(), reply);
  }

  /** The drive has finished. */
  void ended(ServedCall call, Reply reply) {
    ClientConnections all = client;
    if ((isClosed() || call.isCancelled()) && !call.request().isRead() && all != null) {
      all.settle(call.drive());
      server.forgetIfIdle(client().instance(), all);
    }
    if (!isClosed()) {
      calls.remove(call.id());
      leave(call);
      reply(call, reply);
      if (reply instanceof Reply.Failed) {
        sendStates();
      }
    }
  }

  /** The drive has read the bytes; false if the client no longer wants them. */
  boolean answer(ServedCall call, OutgoingMessage bytes) {
    if (isClosed()) {
      return false;
    }
    if (call.isCancelled()) {
      ended(call, new Reply.Failed(ShardFault.UNAVAILABLE, "cancelled"));
      return false;
    }
    call.answer(bytes);
    frames().send(bytes);
    return true;
  }

  /** The answer was sent, or dropped. */
  void answered(ServedCall call) {
    if (!isClosed()) {
      calls.remove(call.id());
      leave(call);
    }
  }

  static Reply.Failed failure(ShardException e) {
    return new Reply.Failed(e.fault(), String.valueOf(e.getMessage()));
  }

  // ---- The end ----

  @Override
  public void tick() {
    sendStates();
  }

  @Override
  protected void ended() {
    for (ServedCall call : List.copyOf(calls.values())) {
      if (call.state() == ServedCall.State.RECEIVING) {
        call.releaseSlab();
        server.budget().release(call.reservedBytes());
      } else if (call.state() == ServedCall.State.AT_DRIVE && !call.isCancelled()) {
        abandon(call);
      }
    }
    calls.clear();
    ClientConnections all = client;
    if (all != null) {
      all.leave(this);
      server.forgetIfIdle(client().instance(), all);
    }
  }
}
