package dev.ashlar.storage.server;

import dev.ashlar.protocol.client.Completion;
import dev.ashlar.protocol.client.ShardData;
import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.client.ShardIntent;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.client.ShardWrite;
import dev.ashlar.protocol.memory.Slab;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.trace.CurrentSpan;
import dev.ashlar.protocol.wire.Reply;
import dev.ashlar.protocol.wire.Request;
import dev.ashlar.transport.frame.OutgoingData;
import dev.ashlar.transport.frame.OutgoingMessage;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * A request that its drive executes. Started on the connection's event loop, answered on any
 * thread; its memory is released even if the connection has ended.
 */
final class DriveRequest {
  private final ShardServer server;
  private final ShardServerSession connection;
  private final ServedCall call;
  private final ShardStore store;
  private final @Nullable Slab slab;
  private final Runnable operation;
  private final AtomicBoolean isTold = new AtomicBoolean();

  private DriveRequest(
      ShardServer server, ShardServerSession connection, ServedCall call, @Nullable Slab slab) {
    this.server = server;
    this.connection = connection;
    this.call = call;
    this.store = server.drives().get(call.drive());
    this.slab = slab;
    this.operation = operation();
  }

  /**
   * Takes over the call's memory.
   *
   * @throws IllegalArgumentException if the request is invalid; then the call keeps its memory
   */
  static DriveRequest of(ShardServer server, ShardServerSession connection, ServedCall call) {
    DriveRequest request = new DriveRequest(server, connection, call, call.slab());
    call.takeSlab();
    return request;
  }

  /** Passes the request to the drive. */
  void start() {
    server.began();
    try {
      CurrentSpan.run(call.trace(), operation);
    } catch (RuntimeException e) {
      server.sessions().warn(call.request().type() + " failed: " + e);
      failed(new ShardException(ShardFault.IO_ERROR, e.toString()));
    }
  }

  private Runnable operation() {
    return switch (call.request()) {
      case Request.Read read ->
          () -> store.read(read.shard(), read.view(), read.offset(), read.length(), new WhenRead());
      case Request.Write write -> {
        ShardWrite wanted =
            new ShardWrite(write.shard(), write.offset(), call.data(), write.crcs());
        yield () -> store.write(wanted, whenChanged());
      }
      case Request.PrepareBytes bytes -> {
        ShardIntent intent =
            new ShardIntent.Bytes(bytes.target(), bytes.offset(), call.data(), bytes.crcs());
        yield () -> store.prepare(intent, whenChanged());
      }
      case Request.PrepareDeltas deltas -> {
        ShardIntent intent =
            new ShardIntent.Deltas(deltas.target(), deltas.profile(), cut(deltas.ranges()));
        yield () -> store.prepare(intent, whenChanged());
      }
      case Request.FoldAll all -> () -> store.fold(all.folds(), whenChanged());
      case Request.DropAll all -> () -> store.drop(all.drops(), whenChanged());
      case Request.DeleteAll all -> () -> store.delete(all.blobs(), whenChanged());
      case Request.ListBlobs list ->
          () ->
              list(
                  () ->
                      new Reply.Blobs(store.blobsBelow(list.session(), list.after(), list.max())));
      case Request.ListAttempts list ->
          () ->
              list(
                  () ->
                      new Reply.Attempts(
                          store.attemptsBelow(list.session(), list.after(), list.max())));
    };
  }

  private List<ShardIntent.Delta> cut(List<Request.Range> ranges) {
    List<ShardIntent.Delta> deltas = new ArrayList<>(ranges.size());
    ByteBuffer data = call.data();
    int at = 0;
    for (Request.Range range : ranges) {
      deltas.add(
          new ShardIntent.Delta(
              range.dataShard(), range.offset(), data.slice(at, range.length()), range.crcs()));
      at += range.length();
    }
    return deltas;
  }

  private interface Listing {
    Reply page() throws ShardException;
  }

  /** Lists on a thread of its own, because it reads the drive's index and may take long. */
  private void list(Listing listing) {
    boolean isTaken =
        server.list(
            () -> {
              try {
                ended(listing.page());
              } catch (ShardException e) {
                failed(e);
              } catch (RuntimeException e) {
                server.sessions().warn(call.request().type() + " failed: " + e);
                failed(new ShardException(ShardFault.IO_ERROR, e.toString()));
              }
            });
    if (!isTaken) {
      failed(new ShardException(ShardFault.OVERLOADED, "too many listings wait"));
    }
  }

  private Completion<DriveId> whenChanged() {
    return Completion.of(drive -> ended(new Reply.Done(drive.incarnation())), this::failed);
  }

  private final class WhenRead implements Completion<ShardData> {
    @Override
    public void succeeded(ShardData data) {
      if (!isTold.compareAndSet(false, true)) {
        data.release();
        return;
      }
      OutgoingMessage bytes =
          new OutgoingMessage(
              call.drive(),
              call.id(),
              new Reply.Bytes(data.bytes().remaining()),
              new OutgoingData(List.of(data.bytes().duplicate()), () -> sent(data)),
              0);
      boolean isTaken =
          connection.execute(
              () -> {
                if (!connection.answer(call, bytes)) {
                  giveBack(data);
                }
              });
      if (!isTaken) {
        giveBack(data);
      }
    }

    private void sent(ShardData data) {
      giveBack(data);
      connection.answered(call);
    }

    private void giveBack(ShardData data) {
      data.release();
      server.budget().release(call.reservedBytes());
      server.ended();
    }

    @Override
    public void failed(ShardException failure) {
      DriveRequest.this.failed(failure);
    }
  }

  private void failed(ShardException failure) {
    ended(ShardServerSession.failure(failure));
  }

  private void ended(Reply reply) {
    if (!isTold.compareAndSet(false, true)) {
      return;
    }
    if (slab != null) {
      slab.release();
    }
    server.budget().release(call.reservedBytes());
    boolean isTaken =
        connection.execute(
            () -> {
              connection.ended(call, reply);
              server.ended();
            });
    if (!isTaken) {
      server.ended();
    }
  }
}
