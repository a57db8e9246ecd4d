package dev.ashlar.transport.client;

import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.wire.HandshakeMessage;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * What is asked of one drive over one connection: as much as the server takes at a time is under
 * way, the rest waits here, reads and changes each in their own line. So a drive that is slow holds
 * up nothing but itself, and its changes not its reads. Used on the event loop.
 */
final class DriveRequestWindow {
  private final RemoteShardStore store;
  private final int place;
  private final Consumer<DriveCall> send;
  private final Line reads;
  private final Line changes;

  private static final class Line {
    final int operationsMax;
    final int bytesMax;
    final ArrayDeque<DriveCall> waiting = new ArrayDeque<>();
    int operations;
    long bytes;

    Line(int operationsMax, int bytesMax) {
      this.operationsMax = operationsMax;
      this.bytesMax = bytesMax;
    }

    boolean hasRoom(DriveCall call) {
      return operations < operationsMax && bytes + call.windowBytes() <= bytesMax;
    }
  }

  DriveRequestWindow(
      RemoteShardStore store, int place, HandshakeMessage.Terms terms, Consumer<DriveCall> send) {
    this.store = store;
    this.place = place;
    this.send = send;
    reads = new Line(terms.operationsMax(), terms.readBytesMax());
    changes = new Line(terms.operationsMax(), terms.writeBytesMax());
  }

  RemoteShardStore store() {
    return store;
  }

  int place() {
    return place;
  }

  void begin(DriveCall call) {
    call.window(this);
    Line line = line(call);
    if (line.waiting.isEmpty() && line.hasRoom(call)) {
      start(line, call);
    } else {
      line.waiting.add(call);
    }
  }

  private void start(Line line, DriveCall call) {
    line.operations++;
    line.bytes += call.windowBytes();
    send.accept(call);
  }

  /** It takes nothing of the window any more. */
  void ended(DriveCall call) {
    Line line = line(call);
    line.operations--;
    line.bytes -= call.windowBytes();
    for (DriveCall next = line.waiting.peek();
        next != null && line.hasRoom(next);
        next = line.waiting.peek()) {
      line.waiting.remove();
      start(line, next);
    }
  }

  private Line line(DriveCall call) {
    return call.isRead() ? reads : changes;
  }

  /** Takes those out that wait here. */
  List<DriveCall> takeWaiting(Predicate<DriveCall> which) {
    List<DriveCall> taken = new ArrayList<>();
    for (Line line : List.of(reads, changes)) {
      line.waiting.stream().filter(which).forEach(taken::add);
      line.waiting.removeIf(which);
    }
    return taken;
  }

  static void fail(List<DriveCall> calls, String why) {
    calls.forEach(call -> call.failed(ShardFault.UNAVAILABLE, why));
  }
}
