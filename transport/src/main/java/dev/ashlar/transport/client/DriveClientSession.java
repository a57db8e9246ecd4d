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
import dev.ashlar.transport.frame.ReceiveTarget;
import dev.ashlar.transport.session.ClientSession;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** One connection to a storage node: a request window per drive, and the calls under way. */
final class DriveClientSession extends ClientSession<DriveCall> {
  private final RemoteNode node;
  private final List<DriveId> expected;
  private final List<@Nullable DriveRequestWindow> windows = new ArrayList<>();

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
        served.add(window.store.drive().id());
      }
    }
    return expected.stream().filter(drive -> !served.contains(drive.id())).toList();
  }

  // ---- Calls ----

  @Override
  protected @Nullable ReceiveTarget target(FrameHeader header, Message message) throws IOException {
    if (header.dataBytes() == 0) {
      return null;
    }
    DriveCall call = request(header);
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
          when header.dataBytes() > 0 && request(header).request() instanceof Request.Read read ->
          answered(header, new Reply.Bytes(read.length()));
      default -> throw unexpected(message);
    }
  }

  private void answered(FrameHeader header, Reply reply) throws WireFormatException {
    if (header.isLast()) {
      DriveCall call = request(header);
      stopSending(call);
      call.answered(reply);
      remove(call);
      call.window().ended(call);
    }
  }

  private void changed(int place, @Nullable ShardFault refusal) {
    DriveRequestWindow window = place < windows.size() ? windows.get(place) : null;
    if (window != null) {
      window.store.refuses(refusal);
    }
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
    giveUpOverdue(now);
  }

  @Override
  protected void overdue(DriveCall call, boolean isRemoved) {
    if (isRemoved) {
      call.window().ended(call);
    }
    call.failed(ShardFault.UNAVAILABLE, node + " did not answer in time");
  }

  @Override
  protected void ended(List<DriveCall> unanswered, IOException reason) {
    String text = "the connection to " + node + " is lost: " + reason.getMessage();
    for (DriveRequestWindow window : windows) {
      if (window != null) {
        window.store.unreachable(this);
        DriveRequestWindow.fail(window.takeWaiting(call -> true), text);
      }
    }
    for (DriveCall call : unanswered) {
      call.failed(ShardFault.UNAVAILABLE, text);
    }
  }
}
