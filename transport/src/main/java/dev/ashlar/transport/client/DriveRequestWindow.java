package dev.ashlar.transport.client;

import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.wire.HandshakeMessage;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * The requests to one drive over one connection. As many as the server accepts at a time are under
 * way; the rest waits here, reads and changes in separate queues. So a slow drive delays no other
 * drive, and its changes do not delay its reads. Used on the event loop.
 */
final class DriveRequestWindow {
  final RemoteShardStore store;
  final int place;
  private final Consumer<DriveCall> send;
  private final Queue reads;
  private final Queue changes;

  private static final class Queue {
    final int operationsMax;
    final int bytesMax;
    final ArrayDeque<DriveCall> waiting = new ArrayDeque<>();
    int operations;
    long bytes;

    Queue(int operationsMax, int bytesMax) {
      this.operationsMax = operationsMax;
      this.bytesMax = bytesMax;
    }

    boolean hasRoom(DriveCall call) {
      return operations < operationsMax && bytes + call.request().windowBytes() <= bytesMax;
    }
  }

  DriveRequestWindow(
      RemoteShardStore store, int place, HandshakeMessage.Terms terms, Consumer<DriveCall> send) {
    this.store = store;
    this.place = place;
    this.send = send;
    reads = new Queue(terms.operationsMax(), terms.readBytesMax());
    changes = new Queue(terms.operationsMax(), terms.writeBytesMax());
  }

  void begin(DriveCall call) {
    call.window(this);
    Queue queue = queueOf(call);
    if (queue.waiting.isEmpty() && queue.hasRoom(call)) {
      start(queue, call);
    } else {
      queue.waiting.add(call);
    }
  }

  private void start(Queue queue, DriveCall call) {
    queue.operations++;
    queue.bytes += call.request().windowBytes();
    send.accept(call);
  }

  /** The call has left the window. */
  void ended(DriveCall call) {
    Queue queue = queueOf(call);
    queue.operations--;
    queue.bytes -= call.request().windowBytes();
    for (DriveCall next = queue.waiting.peek();
        next != null && queue.hasRoom(next);
        next = queue.waiting.peek()) {
      queue.waiting.remove();
      start(queue, next);
    }
  }

  private Queue queueOf(DriveCall call) {
    return call.request().isRead() ? reads : changes;
  }

  /** Removes the waiting calls that match. */
  List<DriveCall> takeWaiting(Predicate<DriveCall> which) {
    List<DriveCall> taken = new ArrayList<>();
    for (Queue queue : List.of(reads, changes)) {
      queue.waiting.stream().filter(which).forEach(taken::add);
      queue.waiting.removeIf(which);
    }
    return taken;
  }

  static void fail(List<DriveCall> calls, String why) {
    calls.forEach(call -> call.failed(ShardFault.UNAVAILABLE, why));
  }
}
