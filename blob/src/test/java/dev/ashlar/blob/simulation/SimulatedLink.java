package dev.ashlar.blob.simulation;

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
import dev.ashlar.protocol.memory.Slab;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.ShardId;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * The drive of a {@link SimulatedNode} as one gateway reaches it, with the promises of the shard
 * protocol: requests and answers are under way for any time and in any order; a lost connection
 * leaves open what became of them; a change waits for those whose outcome the gateway does not
 * know.
 */
final class SimulatedLink implements ShardStore {
  private final SimulatedNode node;
  private final SlabPool slabs;
  private final Random random;
  private final List<Call<?>> onTheWay = new ArrayList<>();
  private final List<Call<?>> atNode = new ArrayList<>();
  private final List<Call<?>> answered = new ArrayList<>();
  private boolean isConnected;
  private DriveId drive;

  private interface Operation<T> {
    void start(ShardStore store, Completion<T> completion);
  }

  /** A request with its bytes, until its sender has been told. */
  private static final class Call<T> implements Completion<T> {
    final boolean isChange;
    private final Operation<T> operation;
    private final List<Slab> payload;
    private @Nullable Completion<T> sender;
    private @Nullable T result;
    private @Nullable ShardException failure;

    Call(boolean isChange, List<Slab> payload, Completion<T> sender, Operation<T> operation) {
      this.isChange = isChange;
      this.payload = payload;
      this.sender = sender;
      this.operation = operation;
    }

    void carryOut(ShardStore store) {
      operation.start(store, this);
      payload.forEach(Slab::release);
    }

    void leaveOut(ShardFault fault) {
      failure = new ShardException(fault, "left out");
      payload.forEach(Slab::release);
    }

    @Override
    public void succeeded(T answer) {
      result = answer;
    }

    @Override
    public void failed(ShardException fault) {
      failure = fault;
    }

    boolean isLost() {
      return sender == null;
    }

    void tell() {
      Completion<T> told = sender;
      sender = null;
      T answer = result;
      if (told == null) {
        discard();
      } else if (answer != null) {
        told.succeeded(answer);
      } else if (failure != null) {
        told.failed(failure);
      }
    }

    /** The sender hears that nobody knows, and nothing else. */
    void lose() {
      Completion<T> told = sender;
      sender = null;
      if (told != null) {
        told.failed(new ShardException(ShardFault.UNAVAILABLE, "the connection is lost"));
      }
    }

    void discard() {
      if (result instanceof ShardData data) {
        data.release();
      }
    }
  }

  SimulatedLink(SimulatedNode node, SlabPool slabs, Random random) {
    this.node = node;
    this.slabs = slabs;
    this.random = random;
    this.drive = node.store().drive();
    node.add(this);
  }

  boolean isConnected() {
    return isConnected;
  }

  void connect() {
    if (node.isUp()) {
      isConnected = true;
      drive = node.store().drive();
    }
  }

  /** Whether anything is under way. */
  boolean isBusy() {
    return !onTheWay.isEmpty() || !atNode.isEmpty() || !answered.isEmpty();
  }

  /** Moves one thing on. */
  void step() {
    List<List<Call<?>>> busy = new ArrayList<>(List.of(onTheWay, atNode, answered));
    busy.removeIf(List::isEmpty);
    List<Call<?>> from = busy.get(random.nextInt(busy.size()));
    Call<?> call = from.remove(random.nextInt(from.size()));
    if (from == answered) {
      call.tell();
    } else if (from == onTheWay) {
      arrive(call);
    } else {
      carryOut(call);
    }
  }

  private void arrive(Call<?> call) {
    boolean isUncertain = atNode.stream().anyMatch(each -> each.isLost() && each.isChange);
    if (call.isChange && isUncertain) {
      call.leaveOut(ShardFault.UNAVAILABLE);
      answered.add(call);
    } else {
      atNode.add(call);
    }
  }

  private void carryOut(Call<?> call) {
    call.carryOut(node.store());
    node.changed();
    if (call.isLost()) {
      call.discard();
    } else {
      answered.add(call);
    }
  }

  /** The connection is lost: what is at the node goes on, what is on the way may arrive. */
  void lose() {
    isConnected = false;
    List<Call<?>> senders = new ArrayList<>(onTheWay);
    senders.addAll(atNode);
    senders.addAll(answered);
    answered.forEach(Call::discard);
    answered.clear();
    for (Call<?> call : onTheWay) {
      forgetOrArrive(call);
    }
    onTheWay.clear();
    senders.forEach(Call::lose);
  }

  private void forgetOrArrive(Call<?> call) {
    if (random.nextBoolean()) {
      atNode.add(call);
    } else {
      call.leaveOut(ShardFault.UNAVAILABLE);
    }
  }

  /** The gateway gives up waiting for one of its requests. */
  void giveUp() {
    List<Call<?>> from = onTheWay.isEmpty() ? atNode : onTheWay;
    if (!from.isEmpty()) {
      Call<?> call = from.get(random.nextInt(from.size()));
      if (from == onTheWay) {
        onTheWay.remove(call);
        forgetOrArrive(call);
      }
      call.lose();
    }
  }

  /** With the node, its requests end; some have been carried out by then. */
  void nodeEnded() {
    lose();
    for (Call<?> call : atNode) {
      if (random.nextBoolean()) {
        call.carryOut(node.store());
        call.discard();
      } else {
        call.leaveOut(ShardFault.UNAVAILABLE);
      }
    }
    atNode.clear();
  }

  /** The gateway is gone, and all that it had asked for comes to its end. */
  void close() {
    lose();
    while (isBusy()) {
      step();
    }
    node.remove(this);
  }

  private <T> void send(
      boolean isChange, List<Slab> payload, Completion<T> sender, Operation<T> operation) {
    Call<T> call = new Call<>(isChange, payload, sender, operation);
    if (isConnected) {
      onTheWay.add(call);
    } else {
      call.leaveOut(ShardFault.UNAVAILABLE);
      call.tell();
    }
  }

  @Override
  public DriveId drive() {
    return drive;
  }

  @Override
  public @Nullable ShardFault writeRefusal() {
    return isConnected ? null : ShardFault.UNAVAILABLE;
  }

  /** The sender's memory is its own again as soon as it has been told. */
  private Slab copy(ByteBuffer bytes) {
    Slab slab = slabs.acquire(bytes.remaining());
    slab.buffer().put(bytes.duplicate());
    return slab;
  }

  @Override
  public void write(ShardWrite write, Completion<DriveId> completion) {
    Slab slab = copy(write.payload());
    ShardWrite sent =
        new ShardWrite(
            write.shard(),
            write.offset(),
            slab.slice(0, write.payload().remaining()),
            write.blockCrcs());
    send(true, List.of(slab), completion, (store, told) -> store.write(sent, told));
  }

  @Override
  public void prepare(ShardIntent intent, Completion<DriveId> completion) {
    List<Slab> payload = new ArrayList<>();
    ShardIntent sent =
        switch (intent) {
          case ShardIntent.Bytes bytes ->
              new ShardIntent.Bytes(
                  bytes.target(), bytes.offset(), sent(bytes.payload(), payload), bytes.crcs());
          case ShardIntent.Deltas deltas ->
              new ShardIntent.Deltas(
                  deltas.target(),
                  deltas.profile(),
                  deltas.deltas().stream()
                      .map(
                          delta ->
                              new ShardIntent.Delta(
                                  delta.dataShard(),
                                  delta.offset(),
                                  sent(delta.bytes(), payload),
                                  delta.crcs()))
                      .toList());
        };
    send(true, payload, completion, (store, told) -> store.prepare(sent, told));
  }

  private ByteBuffer sent(ByteBuffer bytes, List<Slab> payload) {
    Slab slab = copy(bytes);
    payload.add(slab);
    return slab.slice(0, bytes.remaining());
  }

  @Override
  public void read(
      ShardId shard, ShardView view, long offset, int length, Completion<ShardData> completion) {
    send(
        false,
        List.of(),
        completion,
        (store, told) -> store.read(shard, view, offset, length, told));
  }

  @Override
  public void fold(List<FoldIntent> folds, Completion<DriveId> completion) {
    send(true, List.of(), completion, (store, told) -> store.fold(folds, told));
  }

  @Override
  public void drop(List<DiscardIntent> drops, Completion<DriveId> completion) {
    send(true, List.of(), completion, (store, told) -> store.drop(drops, told));
  }

  @Override
  public void delete(List<BlobId> blobs, Completion<DriveId> completion) {
    send(true, List.of(), completion, (store, told) -> store.delete(blobs, told));
  }

  @Override
  public List<BlobId> blobsBelow(long session, @Nullable BlobId after, int max)
      throws ShardException {
    return reached().blobsBelow(session, after, max);
  }

  @Override
  public List<DiscardIntent> attemptsBelow(long session, @Nullable DiscardIntent after, int max)
      throws ShardException {
    return reached().attemptsBelow(session, after, max);
  }

  private ShardStore reached() throws ShardException {
    if (!isConnected) {
      throw new ShardException(ShardFault.UNAVAILABLE, "no connection");
    }
    return node.store();
  }
}
