package dev.ashlar.storage.server;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.protocol.client.AbstractShardStoreContract;
import dev.ashlar.protocol.client.Answer;
import dev.ashlar.protocol.client.MemoryShardStore;
import dev.ashlar.protocol.client.ShardData;
import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.client.ShardView;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.ShardId;
import dev.ashlar.transport.FaultyProxy;
import dev.ashlar.transport.FaultyProxy.Fault;
import dev.ashlar.transport.FaultyProxy.Plan;
import dev.ashlar.transport.Transport;
import dev.ashlar.transport.client.NodeConfig;
import dev.ashlar.transport.client.RemoteNode;
import dev.ashlar.transport.client.RemoteShardStore;
import dev.ashlar.transport.frame.FrameTimes;
import dev.ashlar.transport.session.RemoteProcess;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * What becomes of operations when the connection between client and drive is cut, damaged or silent
 * at some byte: each ends, once; what was read is right; and afterwards everything works again.
 */
@Execution(ExecutionMode.CONCURRENT)
@Tag("slow")
class FaultyConnectionTest {
  private static final int LENGTH = 200_000;
  private static final byte[] BYTES = bytes();

  /** Heartbeats that notice silence soon. */
  private static final FrameTimes QUICK =
      new FrameTimes(Duration.ofSeconds(2), Duration.ofMillis(25), Duration.ofMillis(400));

  private final SlabPool serverSlabs = new SlabPool();
  private final MemoryShardStore drive =
      new MemoryShardStore(new DriveId(new UUID(1, 2), 1), serverSlabs);
  private final AtomicInteger blobs = new AtomicInteger();

  /**
   * At each end of a header, a body or data and beside it, often in the handshake, and anywhere.
   */
  @ParameterizedTest
  @EnumSource(
      value = Fault.class,
      names = {"CUT", "HALF_CLOSE", "CORRUPT"})
  void everyOperationEndsWhereverTheConnectionDoes(Fault fault) throws Exception {
    long seed = Long.getLong("ashlar.seed", System.nanoTime());
    System.out.println("faulty connections: seed " + seed);
    Random random = new Random(seed);
    try (Loopback loopback = new Loopback(serverSlabs, drive);
        FaultyProxy proxy = new FaultyProxy(loopback.port(), false)) {
      for (boolean towardsServer : new boolean[] {true, false}) {
        for (long at : places(loopback, towardsServer, random)) {
          run(loopback, proxy, new Plan(fault, towardsServer, at));
        }
      }
    }
  }

  private Set<Long> places(Loopback loopback, boolean towardsServer, Random random)
      throws Exception {
    Set<Long> places = new TreeSet<>();
    try (FaultyProxy recorder = new FaultyProxy(loopback.port(), true)) {
      run(loopback, recorder, Plan.NONE);
      for (long end : recorder.boundaries(towardsServer)) {
        places.addAll(List.of(end - 1, end, end + 1));
      }
    }
    for (int i = 0; i < 10; i++) {
      places.add((long) random.nextInt(340));
      places.add((long) random.nextInt(2 * LENGTH));
    }
    return places;
  }

  /** Nobody says that it is over; the heartbeat finds out. */
  @Test
  void aSilentPeerIsDetected() throws Exception {
    try (Loopback loopback =
            new Loopback(
                Transport.preferred(),
                new Loopback.Setup(ShardServerConfig.Limits.DEFAULT, QUICK, null),
                serverSlabs,
                drive);
        FaultyProxy proxy = new FaultyProxy(loopback.port(), false)) {
      for (long at : new long[] {0, 100, 400, 1000, 200_000}) {
        run(loopback, proxy, new Plan(Fault.BLACK_HOLE, true, at));
        run(loopback, proxy, new Plan(Fault.BLACK_HOLE, false, at));
      }
    }
  }

  @Test
  void bytesThatArriveOneByOneAreRead() throws Exception {
    try (Loopback loopback = new Loopback(serverSlabs, drive);
        FaultyProxy proxy = new FaultyProxy(loopback.port(), false)) {
      for (long at : new long[] {0, 300, 3000}) {
        run(loopback, proxy, new Plan(Fault.DRIBBLE, true, at));
        run(loopback, proxy, new Plan(Fault.DRIBBLE, false, at));
      }
    }
  }

  private void run(Loopback loopback, FaultyProxy proxy, Plan plan) throws Exception {
    proxy.plan(plan);
    SlabPool slabs = new SlabPool();
    NodeConfig.Times times =
        new NodeConfig.Times(
            QUICK,
            Duration.ofSeconds(2),
            Duration.ofSeconds(60),
            new RemoteProcess.Backoff(Duration.ofMillis(1), Duration.ofMillis(10)));
    NodeConfig config = loopback.clientConfig(proxy.port(), times, NodeConfig.Limits.DEFAULT, null);
    RemoteNode node = loopback.start(config, slabs);
    try {
      RemoteShardStore store = loopback.store(node, 0);
      int rounds = 0;
      while (rounds == 0 || (plan.fault() != Fault.NONE && !proxy.isDone())) {
        node.awaitConnected(Duration.ofMillis(200));
        operate(store);
        assertTrue(++rounds < 20, () -> "never came to " + plan);
      }
      Loopback.await("works again after " + plan, () -> node.status().isConnected());
      awaitSuccess(store, plan);
    } finally {
      node.close();
    }
    assertEquals(0, slabs.lentBytes(), () -> "a slab is lost after " + plan);
  }

  /** Several at once; each may fail, but only as what it is. */
  private void operate(ShardStore store) {
    ShardId shard = new ShardId(new BlobId(7, blobs.incrementAndGet()), 1);
    Answer<DriveId> write = new Answer<>();
    Answer<DriveId> small = new Answer<>();
    store.write(AbstractShardStoreContract.shardWrite(shard, 0, BYTES), write);
    store.write(
        AbstractShardStoreContract.shardWrite(new ShardId(shard.blob(), 2), 0, new byte[10]),
        small);
    boolean isWritten = succeeds(write);
    Answer<ShardData> read = new Answer<>();
    Answer<DriveId> delete = new Answer<>();
    store.read(shard, ShardView.ORIGINAL, 5, LENGTH - 5, read);
    try {
      byte[] got = AbstractShardStoreContract.bytesOf(read.await());
      assertArrayEquals(Arrays.copyOfRange(BYTES, 5, LENGTH), got);
    } catch (ShardException e) {
      boolean isMissing = e.fault() == ShardFault.MISSING;
      assertTrue(e.fault() == ShardFault.UNAVAILABLE || (isMissing && !isWritten), e::getMessage);
    }
    succeeds(small);
    store.delete(List.of(shard.blob()), delete);
    succeeds(delete);
  }

  private static boolean succeeds(Answer<DriveId> answer) {
    try {
      answer.await();
      return true;
    } catch (ShardException e) {
      assertEquals(ShardFault.UNAVAILABLE, e.fault(), e::getMessage);
      return false;
    }
  }

  /** The connection may be lost once more, if the fault comes only now; then it is over. */
  private void awaitSuccess(RemoteShardStore store, Plan plan) throws InterruptedException {
    Loopback.await(
        "an operation succeeds after " + plan,
        () -> {
          Answer<DriveId> answer = new Answer<>();
          ShardId shard = new ShardId(new BlobId(8, blobs.incrementAndGet()), 1);
          store.write(AbstractShardStoreContract.shardWrite(shard, 0, BYTES), answer);
          return succeeds(answer);
        });
  }

  private static byte[] bytes() {
    byte[] bytes = new byte[LENGTH];
    new Random(3).nextBytes(bytes);
    return bytes;
  }
}
