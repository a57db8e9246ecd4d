package dev.ashlar.transport.client;

import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.wire.Exchange;
import dev.ashlar.protocol.wire.FrameHeader;
import dev.ashlar.protocol.wire.Greeting;
import dev.ashlar.protocol.wire.HandshakeFault;
import dev.ashlar.protocol.wire.Message;
import dev.ashlar.protocol.wire.Reply;
import dev.ashlar.protocol.wire.Request;
import dev.ashlar.protocol.wire.Role;
import dev.ashlar.protocol.wire.Side;
import dev.ashlar.protocol.wire.Signal;
import dev.ashlar.protocol.wire.Wire;
import dev.ashlar.protocol.wire.WireFormatException;
import dev.ashlar.transport.ClientGreeting;
import dev.ashlar.transport.ConnectionKeeper;
import dev.ashlar.transport.EventLoops;
import dev.ashlar.transport.FrameConnection;
import dev.ashlar.transport.FrameHandler;
import dev.ashlar.transport.Landing;
import dev.ashlar.transport.Outgoing;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.util.collection.LongObjectHashMap;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;

/** One connection to a storage node: the handshake, and the calls that are under way. */
// A close that fails finds the channel closed.
@SuppressWarnings("FutureReturnValueIgnored")
final class ClientConnection implements FrameHandler, ConnectionKeeper.Attempt {
  private final RemoteNode node;
  private final NodeConfig config;
  private final FrameConnection frames;
  private final ClientGreeting greeting;
  private final LongObjectHashMap<Call> calls = new LongObjectHashMap<>();
  private final List<@Nullable DriveLane> lanes = new ArrayList<>();
  private final CountDownLatch closed = new CountDownLatch(1);
  private boolean isClosed;
  private long lastId;
  private volatile @Nullable Channel channel;
  private volatile @Nullable IOException why;

  ClientConnection(RemoteNode node, NodeConfig config, UUID instance) {
    this.node = node;
    this.config = config;
    Side side = new Side(Wire.VERSION, config.role(), config.cluster(), instance);
    List<UUID> drives = config.drives().stream().map(DriveId::id).toList();
    greeting = new ClientGreeting(side, config.secret(), Role.STORAGE_NODE, drives);
    frames = new FrameConnection(this, config.times().frames());
  }

  // ---- For other threads ----

  /** Takes the call over; false if the connection has ended. */
  boolean begin(DriveLane lane, Call call) {
    return frames.execute(
        () -> {
          if (isClosed) {
            call.failed(ShardFault.UNAVAILABLE, "the connection to " + node + " is lost");
          } else {
            lane.begin(call);
          }
        });
  }

  @Override
  public void connect(EventLoops loops, InetSocketAddress address) {
    ChannelFuture connected =
        loops.connect(address, config.times().connect(), config.tls(), frames);
    channel = connected.channel();
    connected.addListener(
        done -> {
          if (!done.isSuccess()) {
            ended(new IOException("cannot connect: " + done.cause().getMessage()));
          }
        });
  }

  @Override
  public void close(String reason) {
    Channel connecting = channel;
    boolean isTold = frames.execute(() -> frames.close(new IOException(reason)));
    if (!isTold && connecting != null) {
      connecting.close();
    }
  }

  private void ended(IOException reason) {
    if (why == null) {
      why = reason;
    }
    closed.countDown();
  }

  @Override
  public IOException awaitClosed() throws InterruptedException {
    closed.await();
    IOException reason = why;
    return reason == null ? new IOException("closed") : reason;
  }

  // ---- Handshake ----

  @Override
  public void connected() {
    frames.send(0, 0, greeting.hello());
  }

  private void greeted(Greeting said) throws IOException {
    switch (said) {
      case Greeting.Challenge challenge -> {
        frames.send(0, 0, greeting.proof(challenge));
        frames.saltOutgoing(greeting.handshake().clientSalt());
      }
      case Greeting.Welcome welcome -> welcomed(welcome);
      case Greeting.Refusal refusal -> throw greeting.refusal(refusal);
      case Greeting.Hello other -> throw unexpected(said);
      case Greeting.Proof other -> throw unexpected(said);
    }
  }

  private void welcomed(Greeting.Welcome welcome) throws IOException {
    greeting.check(welcome);
    frames.saltIncoming(greeting.handshake().serverSalt());
    frames.established();
    boolean hasAny = false;
    for (Greeting.ServedDrive served : welcome.terms().drives()) {
      RemoteShardStore store = node.store(served.drive().id());
      DriveLane lane = null;
      if (store != null && served.drive().incarnation() >= store.drive().incarnation()) {
        lane = new DriveLane(store, lanes.size(), welcome.terms(), this::send);
        RemoteShardStore.Link link = new RemoteShardStore.Link(this, lane);
        store.reachable(served.drive(), link, served.refusal());
        hasAny = true;
      }
      lanes.add(lane);
    }
    if (!hasAny) {
      throw greeting.refused(
          HandshakeFault.WRONG_DRIVE,
          "expected " + config.drives() + " but it serves " + welcome.terms().drives());
    }
    node.connected(missing());
  }

  /** The drives that are expected and not served, or only in a life before the one known. */
  private List<DriveId> missing() {
    List<UUID> served = new ArrayList<>();
    for (DriveLane lane : lanes) {
      if (lane != null) {
        served.add(lane.store().drive().id());
      }
    }
    return config.drives().stream().filter(drive -> !served.contains(drive.id())).toList();
  }

  private WireFormatException unexpected(Message message) {
    return new WireFormatException(message.type() + " out of turn");
  }

  // ---- Calls ----

  private void send(Call call) {
    long id = ++lastId;
    calls.put(id, call);
    frames.send(call.send(id));
  }

  @Override
  public @Nullable Landing arriving(FrameHeader header, Message message) throws IOException {
    if (header.dataBytes() == 0) {
      return null;
    }
    Call call = call(header);
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
      case Greeting greeting -> greeted(greeting);
      case Signal.State state -> changed(header.drive(), state.refusal());
      case Reply reply -> answered(header, reply);
      case Signal.Data data
          when header.dataBytes() > 0 && call(header).request() instanceof Request.Read read ->
          answered(header, new Reply.Bytes(read.length()));
      case Signal signal -> throw unexpected(message);
      case Request request -> throw unexpected(message);
      case Exchange exchange -> throw unexpected(message);
    }
  }

  private void answered(FrameHeader header, Reply reply) throws WireFormatException {
    if (header.isLast()) {
      Call call = call(header);
      stopSending(call);
      call.answered(reply);
      calls.remove(call.id());
      call.lane().ended(call);
    }
  }

  /** The node has to be told where data that it expects will not come. */
  private void stopSending(Call call) {
    Outgoing sent = call.outgoing();
    if (sent != null && !sent.isEnded()) {
      sent.cancel();
      frames.send(call.lane().place(), call.id(), new Signal.Cancel());
    }
  }

  private void changed(int place, @Nullable ShardFault refusal) {
    DriveLane lane = place < lanes.size() ? lanes.get(place) : null;
    if (lane != null) {
      lane.store().refuses(refusal);
    }
  }

  private Call call(FrameHeader header) throws WireFormatException {
    Call call = calls.get(header.request());
    if (call == null) {
      throw new WireFormatException(header.type() + " answers nothing");
    }
    return call;
  }

  // ---- Time, and the end ----

  @Override
  public void tick() {
    long now = System.nanoTime();
    for (DriveLane lane : lanes) {
      if (lane != null) {
        DriveLane.fail(
            lane.takeWaiting(call -> call.isOverdue(now)), "was not sent to " + node + " in time");
      }
    }
    for (Call call : List.copyOf(calls.values())) {
      if (call.isOverdue(now) && !call.isGivenUp()) {
        giveUp(call);
      }
    }
  }

  /** What the node has begun it will answer yet; until then it counts as under way. */
  private void giveUp(Call call) {
    Outgoing sent = call.outgoing();
    call.giveUp();
    if (sent != null && sent.isBegun()) {
      sent.cancel();
      frames.send(call.lane().place(), call.id(), new Signal.Cancel());
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
    for (DriveLane lane : lanes) {
      if (lane != null) {
        lane.store().unreachable(this);
        DriveLane.fail(lane.takeWaiting(call -> true), text);
      }
    }
    for (Call call : List.copyOf(calls.values())) {
      call.failed(ShardFault.UNAVAILABLE, text);
    }
    calls.clear();
    ended(reason);
  }
}
