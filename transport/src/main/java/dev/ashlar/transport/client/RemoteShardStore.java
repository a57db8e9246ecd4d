package dev.ashlar.transport.client;

import dev.ashlar.protocol.client.AllOf;
import dev.ashlar.protocol.client.Completion;
import dev.ashlar.protocol.client.DiscardIntent;
import dev.ashlar.protocol.client.FoldIntent;
import dev.ashlar.protocol.client.ShardData;
import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.client.ShardIntent;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.client.ShardView;
import dev.ashlar.protocol.client.ShardWrite;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.ShardId;
import dev.ashlar.protocol.wire.Reply;
import dev.ashlar.protocol.wire.Request;
import dev.ashlar.protocol.wire.Wire;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One drive of a {@link RemoteNode}. Operations that are under way when the connection is lost, and
 * those not answered in time, end as {@link ShardFault#UNAVAILABLE}: the drive may have executed
 * them or not. Later operations never overtake them: the node refuses changes until it has finished
 * the abandoned ones.
 */
public final class RemoteShardStore implements ShardStore {
  private final SlabPool slabs;
  private final NodeConfig.Limits limits;
  private final long timeoutNanos;
  private final AtomicInteger operations = new AtomicInteger();
  private final AtomicLong bytes = new AtomicLong();
  private volatile DriveId drive;
  private volatile @Nullable Link link;
  private volatile @Nullable ShardFault refusal = ShardFault.UNAVAILABLE;

  /** The connection to the drive while it is reachable. */
  record Link(DriveClientSession connection, DriveRequestWindow window) {}

  RemoteShardStore(DriveId expected, NodeConfig config, SlabPool slabs) {
    this.drive = expected;
    this.slabs = slabs;
    limits = config.limits();
    timeoutNanos = config.times().operation().toNanos();
  }

  // ---- For its connection ----

  void reachable(DriveId served, Link by, @Nullable ShardFault newRefusal) {
    drive = served;
    refusal = newRefusal;
    link = by;
  }

  void refuses(@Nullable ShardFault newRefusal) {
    refusal = newRefusal;
  }

  void unreachable(DriveClientSession connection) {
    Link current = link;
    if (current != null && current.connection() == connection) {
      link = null;
      refusal = ShardFault.UNAVAILABLE;
    }
  }

  /**
   * The drive in the incarnation that acknowledged a change; it may be newer than the connection.
   */
  DriveId drive(long incarnation) {
    DriveId known = drive;
    if (known.incarnation() == incarnation) {
      return known;
    }
    DriveId acknowledging = new DriveId(known.id(), incarnation);
    if (incarnation > known.incarnation()) {
      drive = acknowledging;
    }
    return acknowledging;
  }

  /** An operation with this much data has ended. */
  void left(int operationBytes) {
    operations.decrementAndGet();
    bytes.addAndGet(-operationBytes);
  }

  // ---- ShardStore ----

  @Override
  public DriveId drive() {
    return drive;
  }

  @Override
  public @Nullable ShardFault writeRefusal() {
    return refusal;
  }

  @Override
  public void write(ShardWrite write, Completion<DriveId> completion) {
    Request request =
        new Request.Write(
            write.shard(), write.offset(), write.payload().remaining(), write.blockCrcs());
    newData(request, List.of(write.payload().duplicate()), completion);
  }

  @Override
  public void read(
      ShardId shard, ShardView view, long offset, int length, Completion<ShardData> completion) {
    Request.Read request = new Request.Read(shard, view, offset, length);
    tellIfRefused(begin(new ReadCall(this, request, deadline(), slabs, completion)), completion);
  }

  @Override
  public void prepare(ShardIntent intent, Completion<DriveId> completion) {
    List<ByteBuffer> payload = new ArrayList<>();
    Request request =
        switch (intent) {
          case ShardIntent.Bytes some -> {
            payload.add(some.payload().duplicate());
            yield new Request.PrepareBytes(
                some.target(), some.offset(), some.payload().remaining(), some.crcs());
          }
          case ShardIntent.Deltas deltas -> {
            List<Request.Range> ranges = new ArrayList<>();
            for (ShardIntent.Delta delta : deltas.deltas()) {
              payload.add(delta.bytes().duplicate());
              ranges.add(
                  new Request.Range(
                      delta.dataShard(), delta.offset(), delta.bytes().remaining(), delta.crcs()));
            }
            yield new Request.PrepareDeltas(deltas.target(), deltas.profile(), ranges);
          }
        };
    newData(request, payload, completion);
  }

  private void newData(Request request, List<ByteBuffer> payload, Completion<DriveId> completion) {
    ShardFault why = refusal;
    if (why != null) {
      completion.failed(new ShardException(why, drive + " accepts no new data"));
    } else {
      change(request, payload, completion);
    }
  }

  @Override
  public void fold(List<FoldIntent> folds, Completion<DriveId> completion) {
    inParts(folds, Request.FoldAll::new, completion);
  }

  @Override
  public void drop(List<DiscardIntent> drops, Completion<DriveId> completion) {
    inParts(drops, Request.DropAll::new, completion);
  }

  @Override
  public void delete(List<BlobId> blobs, Completion<DriveId> completion) {
    inParts(blobs, Request.DeleteAll::new, completion);
  }

  /** Sends the list in one request or, when it is too long, in several. */
  private <T> void inParts(
      List<T> all, Function<List<T>, Request> request, Completion<DriveId> completion) {
    AllOf.inParts(
        all,
        Wire.ENTRIES_MAX,
        completion,
        (some, told) -> change(request.apply(some), List.of(), told));
  }

  private void change(Request request, List<ByteBuffer> payload, Completion<DriveId> completion) {
    tellIfRefused(
        begin(new ChangeCall(this, request, deadline(), payload, completion)), completion);
  }

  @Override
  public List<BlobId> blobsBelow(long session, @Nullable BlobId after, int max)
      throws ShardException {
    return pages(
        after,
        max,
        (from, some) -> new Request.ListBlobs(session, from, some),
        reply -> reply instanceof Reply.Blobs page ? page.blobs() : null);
  }

  @Override
  public List<DiscardIntent> attemptsBelow(long session, @Nullable DiscardIntent after, int max)
      throws ShardException {
    return pages(
        after,
        max,
        (from, some) -> new Request.ListAttempts(session, from, some),
        reply -> reply instanceof Reply.Attempts page ? page.attempts() : null);
  }

  private interface PageRequest<T> {
    Request of(@Nullable T after, int max);
  }

  private interface Page<T> {
    @Nullable List<T> of(Reply reply);
  }

  private <T> List<T> pages(@Nullable T after, int max, PageRequest<T> request, Page<T> entries)
      throws ShardException {
    List<T> all = new ArrayList<>();
    @Nullable T last = after;
    while (all.size() < max) {
      int wanted = Math.min(max - all.size(), Wire.ENTRIES_MAX);
      List<T> page = entries.of(list(request.of(last, wanted)));
      if (page == null || page.size() > wanted) {
        throw new ShardException(ShardFault.IO_ERROR, drive + " sent a wrong answer");
      }
      all.addAll(page);
      if (page.size() < wanted) {
        break;
      }
      last = page.getLast();
    }
    return all;
  }

  private Reply list(Request request) throws ShardException {
    ListCall call = new ListCall(this, request, deadline());
    ShardException why = begin(call);
    if (why != null) {
      throw why;
    }
    return call.await();
  }

  // ---- Starting a call ----

  /** Starts the call, or returns why it is refused; a refused call is not told. */
  private @Nullable ShardException begin(DriveCall call) {
    ShardException why = enter(call);
    if (why != null) {
      return why;
    }
    Link by = link;
    if (by == null || !by.connection().begin(by.window(), call)) {
      call.failed(ShardFault.UNAVAILABLE, drive + " is not connected");
    }
    return null;
  }

  private static void tellIfRefused(@Nullable ShardException why, Completion<?> completion) {
    if (why != null) {
      completion.failed(why);
    }
  }

  private @Nullable ShardException enter(DriveCall call) {
    int waiting = operations.incrementAndGet();
    long waitingBytes = bytes.addAndGet(call.request().windowBytes());
    if (waiting <= limits.operationsMax() && waitingBytes <= limits.bytesMax()) {
      return null;
    }
    left(call.request().windowBytes());
    return new ShardException(ShardFault.OVERLOADED, drive + ": too many operations under way");
  }

  private long deadline() {
    return System.nanoTime() + timeoutNanos;
  }
}
