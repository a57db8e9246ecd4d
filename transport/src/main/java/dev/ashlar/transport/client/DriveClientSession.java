package dev.ashlar.transport.client;

import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.wire.FrameHeader;
import dev.ashlar.protocol.wire.HandshakeFault;
import dev.ashlar.protocol.wire.HandshakeMessage;
import dev.ashlar.protocol.wire.Message;
import dev.ashlar.protocol.wire.Reply;
import dev.ashlar.protocol.wire.Request;
import dev.ashlar.protocol.wire.Signal;
import dev.ashlar.protocol.wire.WireFormatException;
import dev.ashlar.transport.frame.OutgoingMessage;
import dev.ashlar.transport.frame.ReceiveTarget;
import dev.ashlar.transport.session.ClientSession;
import io.netty.util.collection.LongObjectHashMap;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** One connection to a storage node: a request window per drive, and the calls under way. */
final class DriveClientSession extends ClientSession {
  private final RemoteNode node;
  private final List<DriveId> expected;
  private final LongObjectHashMap<DriveCall> calls = new LongObjectHashMap<>();
  private final List<@Nullable DriveRequestWindow> windows = new ArrayList<>();
  private long lastId;

  DriveClientSession(RemoteNode node, Options options, List<DriveId> expected) {
    super(options, expected.stream().map(DriveId::id).toList());
    this.node = node;
    this.expected = expected;
  }

  // ---- For other threads ----

  /** Takes the call over; false if the connection has ended. */
  boolean begin(DriveRequestWindow window, DriveCall call) {
    return frames()
        .execute(
            () -> {
              if (isClosed()) {
                call.failed(ShardFault.UNAVAILABLE, "the connection to " + node + " is lost");
              } else {
                window.begin(call);
              }
            });
  }

  @Override
  protected void established(HandshakeMessage.Terms terms) throws IOException {
    boolean hasAny = false;
    for (HandshakeMessage.ServedDrive served : terms.drives()) {
      RemoteShardStore store = node.store(served.drive().id());
      DriveRequestWindow window = null;
      if (store != null && served.drive().incarnation() >= store.drive().incarnation()) {
        window = new DriveRequestWindow(store, windows.size(), terms, this::send);
        RemoteShardStore.Link link = new RemoteShardStore.Link(this, window);
        store.reachable(served.drive(), link, served.refusal());
        hasAny = true;
      }
      windows.add(window);
    }
    if (!hasAny) {
      throw refused(
          HandshakeFault.WRONG_DRIVE, "expected " + expected + " but it serves " + terms.drives());
    }
    node.connected(missing());
  }

  /** Expected drives that are not served, or only in an incarnation older than the known one. */
  private List<DriveId> missing() {
    List<UUID> served = new ArrayList<>();
    for (DriveRequestWindow window : windows) {
      if (window != null) {
        served.add(window.store().drive().id());
      }
    }
    return expected.stream().filter(drive -> !served.contains(drive.id())).toList();
  }

  // ---- Calls ----

  private void send(DriveCall call) {
    long id = ++lastId;
    calls.put(id, call);
    frames().send(call.send(id));
  }

  @Override
  protected @Nullable ReceiveTarget target(FrameHeader header, Message message) throws IOException {
    if (header.dataBytes() == 0) {
      return null;
    }
    DriveCall call = call(header);
    return switch (message) {
      case Reply.Bytes bytes -> call.target(bytes.length(), header);
      case Signal.Data data when call.request() instanceof Request.Read read ->
          call.target(read.length(), header);
      default -> throw new WireFormatException(message.type() + " with data");
    };
  }

  @Override
  protected void received(FrameHeader header, Message message) throws IOException {
    switch (message) {
      case Signal.State state -> changed(header.drive(), state.refusal());
      case Reply reply -> answered(header, reply);
      case Signal.Data data
          when header.dataBytes() > 0 && call(header).request() instanceof Request.Read read ->
          answered(header, new Reply.Bytes(read.length()));
      default -> throw unexpected(message);
    }
  }

  private void answered(FrameHeader header, Reply reply) throws WireFormatException {
    if (header.isLast()) {
      DriveCall call = call(header);
      stopSending(call);
      call.answered(reply);
      calls.remove(call.id());
      call.window().ended(call);
    }
  }

  /** Tells the node not to wait for the rest of the request's data. */
  private void stopSending(DriveCall call) {
    OutgoingMessage sent = call.outgoing();
    if (sent != null && !sent.isEnded()) {
      sent.cancel();
      frames().send(call.window().place(), call.id(), new Signal.Cancel());
    }
  }

  private void changed(int place, @Nullable ShardFault refusal) {
    DriveRequestWindow window = place < windows.size() ? windows.get(place) : null;
    if (window != null) {
      window.store().refuses(refusal);
    }
  }

  private DriveCall call(FrameHeader header) throws WireFormatException {
    DriveCall call = calls.get(header.request());
    if (call == null) {
      throw new WireFormatException(header.type() + " answers nothing");
    }
    return call;
  }

  // ---- Time, and the end ----

  @Override
  public void tick() {
    long now = System.nanoTime();
    for (DriveRequestWindow window : windows) {
      if (window != null) {
        DriveRequestWindow.fail(
            window.takeWaiting(call -> call.isOverdue(now)),
            "was not sent to " + node + " in time");
      }
    }
    for (DriveCall call : List.copyOf(calls.values())) {
      if (call.isOverdue(now) && !call.isGivenUp()) {
        giveUp(call);
      }
    }
  }

  /** A call that the node may have seen stays under way until the node has answered it. */
  private void giveUp(DriveCall call) {
    OutgoingMessage sent = call.outgoing();
    call.giveUp();
    if (sent != null && sent.isBegun()) {
      sent.cancel();
      frames().send(call.window().place(), call.id(), new Signal.Cancel());
    } else if (sent != null) {
      sent.cancel();
      calls.remove(call.id());
      call.window().ended(call);
    }
    call.failed(ShardFault.UNAVAILABLE, node + " did not answer in time");
  }

  @Override
  protected void ended(IOException reason) {
    String text = "the connection to " + node + " is lost: " + reason.getMessage();
    for (DriveRequestWindow window : windows) {
      if (window != null) {
        window.store().unreachable(this);
        DriveRequestWindow.fail(window.takeWaiting(call -> true), text);
      }
    }
    for (DriveCall call : List.copyOf(calls.values())) {
      call.failed(ShardFault.UNAVAILABLE, text);
    }
    calls.clear();
  }
}
