package dev.ashlar.storage.server;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.ashlar.protocol.client.AbstractShardStoreContract;
import dev.ashlar.protocol.client.Answer;
import dev.ashlar.protocol.client.MemoryShardStore;
import dev.ashlar.protocol.client.ShardData;
import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.client.ShardView;
import dev.ashlar.protocol.client.ShardWrite;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.ShardId;
import dev.ashlar.protocol.wire.Wire;
import dev.ashlar.transport.FaultyProxy;
import dev.ashlar.transport.Transport;
import dev.ashlar.transport.client.NodeConfig;
import dev.ashlar.transport.client.RemoteNode;
import dev.ashlar.transport.client.RemoteShardStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** What a client of drives promises beyond the drives' own contract. */
class RemoteNodeTest {
  private static final ShardId SHARD = new ShardId(new BlobId(7, 1), 0);
  private static final int LARGE = 1 << 20;

  private final SlabPool serverSlabs = new SlabPool();
  private final MemoryShardStore first = drive(1);
  private final MemoryShardStore second = drive(2);

  private MemoryShardStore drive(int number) {
    return new MemoryShardStore(new DriveId(new UUID(1, number), 5), serverSlabs);
  }

  @Test
  void aDriveThatDoesNotAnswerDelaysNoOther() throws Exception {
    try (Loopback loopback = new Loopback(serverSlabs, first, second)) {
      RemoteNode node = loopback.connect();
      RemoteShardStore slow = loopback.store(node, 0);
      RemoteShardStore good = loopback.store(node, 1);
      first.holdAnswers();
      List<Answer<DriveId>> stuck = new ArrayList<>();
      // More than its window and than any socket holds.
      for (int i = 0; i < 40; i++) {
        stuck.add(write(slow, i, LARGE));
      }
      for (int i = 0; i < 40; i++) {
        assertEquals(second.drive(), write(good, i, LARGE).await());
        assertEquals(LARGE, read(good, i, LARGE).length);
      }
      assertEquals(
          0, stuck.stream().filter(Answer::isDone).count(), "they wait for a drive that does not");
      // An answer may be here before the server has given back what it took for it.
      Loopback.await(
          "the rest waits at the client",
          () ->
              loopback.server.reservedBytes() <= ShardServerConfig.Limits.DEFAULT.writeBytesMax());
      first.releaseAnswers();
      for (Answer<DriveId> answer : stuck) {
        answer.await();
      }
    }
  }

  @Test
  void changesDoNotDelayReads() throws Exception {
    try (Loopback loopback = new Loopback(serverSlabs, first)) {
      RemoteShardStore store = loopback.store(loopback.connect(), 0);
      write(store, 0, 100).await();
      HeldWrites held = new HeldWrites(first);
      try (Loopback other = new Loopback(serverSlabs, held)) {
        RemoteShardStore slow = other.store(other.connect(), 0);
        List<Answer<DriveId>> stuck = new ArrayList<>();
        for (int i = 1; i < 40; i++) {
          stuck.add(write(slow, i, LARGE));
        }
        assertEquals(100, read(slow, 0, 100).length);
        held.release();
        for (Answer<DriveId> answer : stuck) {
          answer.await();
        }
      }
    }
  }

  @Test
  void operationsBeyondTheLimitAreRefusedImmediately() throws Exception {
    try (Loopback loopback = new Loopback(serverSlabs, first)) {
      NodeConfig.Limits limits = new NodeConfig.Limits(3, 2 * Wire.DATA_BYTES_MAX);
      NodeConfig config =
          loopback.clientConfig(loopback.port(), Loopback.CLIENT_TIMES, limits, null);
      RemoteShardStore store = loopback.store(loopback.connect(config, new SlabPool()), 0);
      first.holdAnswers();
      List<Answer<DriveId>> taken = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        taken.add(write(store, i, 10));
      }
      assertEquals(ShardFault.OVERLOADED, write(store, 3, 10).awaitFault());
      assertThrows(ShardException.class, () -> store.blobsBelow(9, null, 1));
      first.releaseAnswers();
      for (Answer<DriveId> answer : taken) {
        answer.await();
      }
      write(store, 4, 10).await();
      Answer<DriveId> tooMuch = new Answer<>();
      first.holdAnswers();
      Answer<DriveId> one = write(store, 5, Wire.DATA_BYTES_MAX);
      Answer<DriveId> two = write(store, 6, Wire.DATA_BYTES_MAX);
      store.write(shardWrite(7, 1), tooMuch);
      assertEquals(ShardFault.OVERLOADED, tooMuch.awaitFault());
      Loopback.await("both are there", () -> first.writes() == 6);
      first.releaseAnswers();
      one.await();
      two.await();
    }
  }

  @Test
  void aServerWithoutMemoryRefuses() throws Exception {
    ShardServerConfig.Limits limits =
        new ShardServerConfig.Limits(
            9, 9, 100, 4 * Wire.DATA_BYTES_MAX, 4 * Wire.DATA_BYTES_MAX, Wire.DATA_BYTES_MAX);
    try (Loopback loopback =
        new Loopback(
            Transport.preferred(),
            new Loopback.Setup(limits, Loopback.TIMES, null),
            serverSlabs,
            first)) {
      RemoteShardStore store = loopback.store(loopback.connect(), 0);
      first.holdAnswers();
      Answer<DriveId> all = write(store, 0, Wire.DATA_BYTES_MAX);
      Loopback.await("it is at the drive", () -> first.writes() == 1);
      assertEquals(ShardFault.OVERLOADED, write(store, 1, LARGE).awaitFault());
      assertEquals(ShardFault.OVERLOADED, write(store, 1, 10).awaitFault());
      Answer<ShardData> read = new Answer<>();
      store.read(SHARD, ShardView.ORIGINAL, 0, 10, read);
      assertEquals(ShardFault.OVERLOADED, read.awaitFault());
      first.releaseAnswers();
      all.await();
      write(store, 1, LARGE).await();
    }
  }

  @Test
  void changedDriveStatesReachTheClient() throws Exception {
    try (Loopback loopback = new Loopback(serverSlabs, first, second)) {
      RemoteShardStore store = loopback.store(loopback.connect(), 0);
      assertNull(store.writeRefusal());
      first.failWrites(ShardFault.FULL);
      Loopback.await("told that it is full", () -> store.writeRefusal() == ShardFault.FULL);
      assertEquals(ShardFault.FULL, write(store, 1, 10).awaitFault());
      first.failWrites(null);
      Loopback.await("told that it has room", store::isWritable);
      write(store, 1, 10).await();
    }
  }

  @Test
  void withoutAConnectionEverythingIsUnavailable() throws Exception {
    RemoteShardStore store;
    try (Loopback loopback = new Loopback(serverSlabs, first)) {
      RemoteNode node = loopback.connect();
      store = loopback.store(node, 0);
      first.holdAnswers();
      Answer<DriveId> lost = write(store, 1, 10);
      Loopback.await("it is at the drive", () -> first.writes() == 1);
      node.close();
      assertEquals(ShardFault.UNAVAILABLE, lost.awaitFault());
      first.releaseAnswers();
      assertFalse(node.status().isConnected());
    }
    assertEquals(ShardFault.UNAVAILABLE, store.writeRefusal());
    assertEquals(ShardFault.UNAVAILABLE, write(store, 1, 10).awaitFault());
    Answer<ShardData> read = new Answer<>();
    store.read(SHARD, ShardView.ORIGINAL, 0, 1, read);
    assertEquals(ShardFault.UNAVAILABLE, read.awaitFault());
    ShardException listing = assertThrows(ShardException.class, () -> store.blobsBelow(9, null, 1));
    assertEquals(ShardFault.UNAVAILABLE, listing.fault());
    assertEquals(first.drive(), store.drive());
  }

  @Test
  void aNewIncarnationIsAcknowledgedAndAnOlderOneRefused() throws Exception {
    first.wipe();
    DriveId later = first.drive();
    try (Loopback loopback = new Loopback(serverSlabs, first)) {
      NodeConfig all = loopback.clientConfig();
      DriveId before = new DriveId(later.id(), later.incarnation() - 1);
      RemoteNode node = loopback.connect(with(all, List.of(before)), new SlabPool());
      RemoteShardStore store = loopback.store(node, 0);
      assertEquals(later, store.drive());
      first.wipe();
      assertEquals(first.drive(), write(store, 1, 10).await());
      DriveId after = new DriveId(later.id(), later.incarnation() + 9);
      RemoteNode mistaken = loopback.start(with(all, List.of(after)), new SlabPool());
      Loopback.await("it says why", () -> mistaken.status().failure() != null);
      assertEquals(ShardFault.UNAVAILABLE, loopback.store(mistaken, 0).writeRefusal());
    }
  }

  static NodeConfig with(NodeConfig config, List<DriveId> drives) {
    return new NodeConfig(
        config.host(),
        config.port(),
        config.role(),
        config.cluster(),
        config.secret(),
        drives,
        config.tls(),
        config.times(),
        config.limits());
  }

  @Test
  void unansweredOperationsEndAtTheirDeadline() throws Exception {
    try (Loopback loopback = new Loopback(serverSlabs, first)) {
      NodeConfig config =
          loopback.clientConfig(
              loopback.port(), impatient(Duration.ofMillis(100)), NodeConfig.Limits.DEFAULT, null);
      RemoteShardStore store = loopback.store(loopback.connect(config, new SlabPool()), 0);
      write(store, 1, LARGE).await();
      first.holdAnswers();
      List<Answer<DriveId>> late = new ArrayList<>();
      for (int i = 2; i < 40; i++) {
        late.add(write(store, i, LARGE));
      }
      Answer<ShardData> read = new Answer<>();
      store.read(new ShardId(new BlobId(7, 1), 0), ShardView.ORIGINAL, 0, LARGE, read);
      assertEquals(ShardFault.UNAVAILABLE, read.awaitFault());
      for (Answer<DriveId> answer : late) {
        assertEquals(ShardFault.UNAVAILABLE, answer.awaitFault());
      }
      // What is asked for now must not overtake what the drive has not ended.
      assertEquals(ShardFault.UNAVAILABLE, delete(store, 2).awaitFault());
      first.releaseAnswers();
      Loopback.await("it takes changes again", () -> isDeleted(store, 2));
      assertEquals(LARGE, read(store, 1, LARGE).length);
    }
  }

  private static NodeConfig.Times impatient(Duration operation) {
    NodeConfig.Times usual = Loopback.CLIENT_TIMES;
    return new NodeConfig.Times(usual.frames(), usual.connect(), operation, usual.backoff());
  }

  /** A delete must not be done before a write that was asked for earlier and given up. */
  @Test
  void nothingOvertakesChangesLostWithAConnection() throws Exception {
    HeldWrites held = new HeldWrites(first);
    try (Loopback loopback = new Loopback(serverSlabs, held);
        FaultyProxy proxy = new FaultyProxy(loopback.port(), false)) {
      NodeConfig config =
          loopback.clientConfig(
              proxy.port(), Loopback.CLIENT_TIMES, NodeConfig.Limits.DEFAULT, null);
      RemoteNode node = loopback.connect(config, new SlabPool());
      RemoteShardStore store = loopback.store(node, 0);
      Answer<DriveId> lost = write(store, 1, 10);
      Loopback.await("it is at the drive", () -> held.waiting() == 1);
      proxy.cutAll();
      assertEquals(ShardFault.UNAVAILABLE, lost.awaitFault());
      Loopback.await("connected again", () -> node.status().connections() == 2);
      assertEquals(ShardFault.UNAVAILABLE, delete(store, 1).awaitFault());
      assertEquals(ShardFault.UNAVAILABLE, write(store, 2, 10).awaitFault());
      held.release();
      Loopback.await("it takes changes again", () -> isDeleted(store, 1));
      assertEquals(List.of(), store.blobsBelow(-1, null, 10));
    }
  }

  @Test
  void aClosingServerFinishesRequestsUnderWay() throws Exception {
    HeldWrites held = new HeldWrites(first);
    try (Loopback loopback = new Loopback(serverSlabs, held)) {
      RemoteShardStore store = loopback.store(loopback.connect(), 0);
      Answer<DriveId> last = write(store, 1, LARGE);
      Loopback.await("it is at the drive", () -> held.waiting() == 1);
      Thread closing = Thread.ofVirtual().start(loopback.server::close);
      Loopback.await("told", () -> store.writeRefusal() == ShardFault.UNAVAILABLE);
      assertEquals(ShardFault.UNAVAILABLE, write(store, 2, 10).awaitFault());
      held.release();
      assertEquals(first.drive(), last.await());
      closing.join();
    }
  }

  @Test
  void listingsLongerThanAPageAreComplete() throws Exception {
    try (Loopback loopback = new Loopback(serverSlabs, first)) {
      RemoteShardStore store = loopback.store(loopback.connect(), 0);
      int count = 2 * Wire.ENTRIES_MAX + 7;
      for (int i = 0; i < count; i++) {
        first.write(shardWrite(i, 1), new Answer<>());
      }
      List<BlobId> seen = new ArrayList<>();
      store.forEachBlobBelow(-1, seen::add);
      assertEquals(count, seen.size());
      assertEquals(seen, store.blobsBelow(-1, null, count + 1));
      assertEquals(seen.subList(0, 1500), store.blobsBelow(-1, null, 1500));
      Answer<DriveId> deleted = new Answer<>();
      store.delete(seen, deleted);
      deleted.await();
      assertEquals(List.of(), store.blobsBelow(-1, null, 1));
    }
  }

  /** Many clients, each with its own connection, all at once. */
  @Test
  void clientsDoNotDisturbEachOther() throws Exception {
    try (Loopback loopback = new Loopback(serverSlabs, first, second)) {
      List<Thread> threads = new ArrayList<>();
      List<Throwable> failures = Collections.synchronizedList(new ArrayList<>());
      for (int client = 0; client < 8; client++) {
        RemoteShardStore store = loopback.store(loopback.connect(), client % 2);
        int base = client * 1000;
        threads.add(
            Thread.ofVirtual()
                .start(
                    () -> {
                      try {
                        for (int i = 0; i < 50; i++) {
                          int length = 1 + (base + i * 7919) % 200_000;
                          write(store, base + i, length).await();
                          byte[] expected = bytes(base + i, length);
                          assertArrayEquals(expected, read(store, base + i, length));
                        }
                      } catch (ShardException | RuntimeException | Error e) {
                        failures.add(e);
                      }
                    }));
      }
      for (Thread thread : threads) {
        thread.join();
      }
      assertEquals(List.of(), failures);
    }
  }

  private static Answer<DriveId> write(ShardStore store, int blob, int length) {
    Answer<DriveId> answer = new Answer<>();
    store.write(shardWrite(blob, length), answer);
    return answer;
  }

  private static ShardWrite shardWrite(int blob, int length) {
    return AbstractShardStoreContract.shardWrite(
        new ShardId(new BlobId(7, blob), 0), 0, bytes(blob, length));
  }

  private static byte[] bytes(int blob, int length) {
    byte[] bytes = new byte[length];
    new Random(blob).nextBytes(bytes);
    return bytes;
  }

  private static byte[] read(ShardStore store, int blob, int length) throws ShardException {
    Answer<ShardData> answer = new Answer<>();
    store.read(new ShardId(new BlobId(7, blob), 0), ShardView.ORIGINAL, 0, length, answer);
    return AbstractShardStoreContract.bytesOf(answer.await());
  }

  private static Answer<DriveId> delete(ShardStore store, int blob) {
    Answer<DriveId> answer = new Answer<>();
    store.delete(List.of(new BlobId(7, blob)), answer);
    return answer;
  }

  private static boolean isDeleted(ShardStore store, int blob) {
    try {
      delete(store, blob).await();
      return true;
    } catch (ShardException e) {
      return false;
    }
  }
}
