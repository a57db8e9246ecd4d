package dev.ashlar.transport.client;

import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.wire.CallMessage;
import dev.ashlar.protocol.wire.FrameHeader;
import dev.ashlar.protocol.wire.HandshakeFault;
import dev.ashlar.protocol.wire.HandshakeMessage;
import dev.ashlar.protocol.wire.Message;
import dev.ashlar.protocol.wire.PeerIdentity;
import dev.ashlar.protocol.wire.Reply;
import dev.ashlar.protocol.wire.Request;
import dev.ashlar.protocol.wire.Role;
import dev.ashlar.protocol.wire.Signal;
import dev.ashlar.protocol.wire.Wire;
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

/** One connection to a storage node: the handshake, and the calls that are under way. */
final class ClientConnection extends ClientSession {
  private final RemoteNode node;
  private final NodeConfig config;
  private final LongObjectHashMap<DriveCall> calls = new LongObjectHashMap<>();
  private final List<@Nullable DriveRequestWindow> lanes = new ArrayList<>();
  private boolean isClosed;
  private long lastId;

  ClientConnection(RemoteNode node, NodeConfig config, UUID instance) {
    super(
        new Way(config.times().frames(), config.times().connect(), config.tls()),
        new PeerIdentity(Wire.VERSION, config.role(), config.cluster(), instance),
        config.secret(),
        Role.STORAGE_NODE,
        config.drives().stream().map(DriveId::id).toList());
    this.node = node;
    this.config = config;
  }

  // ---- For other threads ----

  /** Takes the call over; false if the connection has ended. */
  boolean begin(DriveRequestWindow lane, DriveCall call) {
    return frames()
        .execute(
            () -> {
              if (isClosed) {
                call.failed(ShardFault.UNAVAILABLE, "the connection to " + node + " is lost");
              } else {
                lane.begin(call);
              }
            });
  }

  @Override
  protected void welcomed(HandshakeMessage.Welcome welcome) throws IOException {
    boolean hasAny = false;
    for (HandshakeMessage.ServedDrive served : welcome.terms().drives()) {
      RemoteShardStore store = node.store(served.drive().id());
      DriveRequestWindow lane = null;
      if (store != null && served.drive().incarnation() >= store.drive().incarnation()) {
        lane = new DriveRequestWindow(store, lanes.size(), welcome.terms(), this::send);
        RemoteShardStore.Link link = new RemoteShardStore.Link(this, lane);
        store.reachable(served.drive(), link, served.refusal());
        hasAny = true;
      }
      lanes.add(lane);
    }
    if (!hasAny) {
      throw refused(
          HandshakeFault.WRONG_DRIVE,
          "expected " + config.drives() + " but it serves " + welcome.terms().drives());
    }
    node.connected(missing());
  }

  /** The drives that are expected and not served, or only in a life before the one known. */
  private List<DriveId> missing() {
    List<UUID> served = new ArrayList<>();
    for (DriveRequestWindow lane : lanes) {
      if (lane != null) {
        served.add(lane.store().drive().id());
      }
    }
    return config.drives().stream().filter(drive -> !served.contains(drive.id())).toList();
  }

  // ---- Calls ----

  private void send(DriveCall call) {
    long id = ++lastId;
    calls.put(id, call);
    frames().send(call.send(id));
  }

  @Override
  public @Nullable ReceiveTarget arriving(FrameHeader header, Message message) throws IOException {
    if (header.dataBytes() == 0) {
      return null;
    }
    DriveCall call = call(header);
    return switch (message) {
      case Reply.Bytes bytes -> call.land(bytes.length(), header);
      case Signal.Data data when call.request() instanceof Request.Read read ->
          call.land(read.length(), header);
      default -> throw new WireFormatException(message.type() + " with data");
    };
  }

  @Override
  public void arrived(FrameHeader header, Message message) throws IOException {
    switch (message) {
      case HandshakeMessage greeting -> greeted(greeting);
      case Signal.State state -> changed(header.drive(), state.refusal());
      case Reply reply -> answered(header, reply);
      case Signal.Data data
          when header.dataBytes() > 0 && call(header).request() instanceof Request.Read read ->
          answered(header, new Reply.Bytes(read.length()));
      case Signal signal -> throw unexpected(message);
      case Request request -> throw unexpected(message);
      case CallMessage exchange -> throw unexpected(message);
    }
  }

  private void answered(FrameHeader header, Reply reply) throws WireFormatException {
    if (header.isLast()) {
      DriveCall call = call(header);
      stopSending(call);
      call.answered(reply);
      calls.remove(call.id());
      call.lane().ended(call);
    }
  }

  /** The node has to be told where data that it expects will not come. */
  private void stopSending(DriveCall call) {
    OutgoingMessage sent = call.outgoing();
    if (sent != null && !sent.isEnded()) {
      sent.cancel();
      frames().send(call.lane().place(), call.id(), new Signal.Cancel());
    }
  }

  private void changed(int place, @Nullable ShardFault refusal) {
    DriveRequestWindow lane = place < lanes.size() ? lanes.get(place) : null;
    if (lane != null) {
      lane.store().refuses(refusal);
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
    for (DriveRequestWindow lane : lanes) {
      if (lane != null) {
        DriveRequestWindow.fail(
            lane.takeWaiting(call -> call.isOverdue(now)), "was not sent to " + node + " in time");
      }
    }
    for (DriveCall call : List.copyOf(calls.values())) {
      if (call.isOverdue(now) && !call.isGivenUp()) {
        giveUp(call);
      }
    }
  }

  /** What the node has begun it will answer yet; until then it counts as under way. */
  private void giveUp(DriveCall call) {
    OutgoingMessage sent = call.outgoing();
    call.giveUp();
    if (sent != null && sent.isBegun()) {
      sent.cancel();
      frames().send(call.lane().place(), call.id(), new Signal.Cancel());
    } else if (sent != null) {
      sent.cancel();
      calls.remove(call.id());
      call.lane().ended(call);
    }
    call.failed(ShardFault.UNAVAILABLE, node + " did not answer in time");
  }

  @Override
  public void closed(IOException reason) {
    isClosed = true;
    String text = "the connection to " + node + " is lost: " + reason.getMessage();
    for (DriveRequestWindow lane : lanes) {
      if (lane != null) {
        lane.store().unreachable(this);
        DriveRequestWindow.fail(lane.takeWaiting(call -> true), text);
      }
    }
    for (DriveCall call : List.copyOf(calls.values())) {
      call.failed(ShardFault.UNAVAILABLE, text);
    }
    calls.clear();
    ended(reason);
  }
}
