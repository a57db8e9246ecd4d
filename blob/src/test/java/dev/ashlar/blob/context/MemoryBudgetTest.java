package dev.ashlar.blob.context;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.blob.DataUnavailableException.Reason;
import dev.ashlar.blob.ObjectWriter;
import dev.ashlar.blob.engine.EngineFixture;
import dev.ashlar.blob.read.WindowRead;
import dev.ashlar.blob.write.StripeBatch;
import dev.ashlar.protocol.client.ObjectRead;
import dev.ashlar.protocol.client.ShardData;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.model.Profile;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** However many slow clients there are, the engine's memory stays within its budget. */
class MemoryBudgetTest {
  private static final Profile FOUR_TWO = Profile.parse("4+2", 16384);
  private static final int WINDOW = 1 << 20;
  private static final long BATCH_BYTES = StripeBatch.bytesMax(FOUR_TWO, WINDOW);
  private static final int SLOW_MAX = 40;

  /** Nearly three of the least windows, with a short last stripe. */
  private static final int OBJECT_BYTES = 724_000;

  private static EngineFixture engine(long budgetBytes) {
    return new EngineFixture(
        FOUR_TWO, EngineConfig.DEFAULT, new MemoryBudget(budgetBytes, Duration.ofMillis(50)));
  }

  @Test
  void aBatchHoldsASlabPerShard() {
    assertEquals(6 * 256 * 1024, BATCH_BYTES);
    assertEquals(4096, StripeBatch.bytesMax(FOUR_TWO, 100));
    assertEquals(4 * 16384, StripeBatch.bytesMax(FOUR_TWO, 16385));
  }

  @Test
  void slowUploadsBeyondTheBudgetAreRefused() throws Exception {
    EngineFixture engine = engine(8 * BATCH_BYTES);
    List<ObjectWriter> slow = new ArrayList<>();
    while (slow.size() < SLOW_MAX && beginsUpload(engine, slow)) {
      assertTrue(engine.memory.reservedBytes() <= engine.memory.limitBytes());
    }
    assertTrue(slow.size() > 8 && slow.size() < SLOW_MAX, slow.size() + " uploads at once");
    engine.put(new byte[5000], new Random(1));
    assertEquals(5000, engine.get(0, 5000).length, "small requests are served");
    for (ObjectWriter writer : slow) {
      writer.write(ByteBuffer.allocate(5 * WINDOW));
      assertTrue(engine.pool.lentBytes() <= engine.memory.limitBytes());
    }
    slow.forEach(ObjectWriter::close);
    assertEquals(0, engine.memory.reservedBytes());
  }

  private static boolean beginsUpload(EngineFixture engine, List<ObjectWriter> slow)
      throws Exception {
    ObjectWriter writer = engine.store.newWriter(5L << 30);
    try {
      writer.write(ByteBuffer.allocate(1));
      slow.add(writer);
      return true;
    } catch (DataUnavailableException e) {
      assertEquals(Reason.OVERLOADED, e.reason());
      writer.close();
      return false;
    }
  }

  @Test
  void slowDownloadsBeyondTheBudgetAreRefused() throws Exception {
    EngineFixture engine = engine(32 << 20);
    engine.put(new byte[5 * WINDOW], new Random(1));
    ObjectRead object = Objects.requireNonNull(engine.metadata.object);
    CountDownLatch clientsRead = new CountDownLatch(1);
    Queue<ShardData> unsent = new ConcurrentLinkedQueue<>();
    int clients = 30;
    CountDownLatch begun = new CountDownLatch(clients);
    List<Future<Reason>> ends = new ArrayList<>();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < clients; i++) {
        ends.add(threads.submit(() -> read(engine, object, begun, clientsRead, unsent)));
      }
      begun.await();
      assertTrue(engine.pool.lentBytes() <= engine.memory.limitBytes());
      assertTrue(engine.pool.lentBytes() > 0);
      clientsRead.countDown();
      int refused = 0;
      for (Future<Reason> end : ends) {
        refused += end.get() == Reason.OVERLOADED ? 1 : 0;
      }
      assertTrue(refused > 0 && refused < clients - 5, refused + " refused");
    }
    assertTrue(engine.memory.reservedBytes() > 0, "what is not sent counts");
    unsent.forEach(ShardData::release);
    assertEquals(0, engine.memory.reservedBytes());
    assertEquals(0, engine.pool.lentBytes());
  }

  /** A client that takes nothing, then all; its connection keeps the last piece. */
  private static Reason read(
      EngineFixture engine,
      ObjectRead object,
      CountDownLatch begun,
      CountDownLatch clientsRead,
      Queue<ShardData> unsent)
      throws InterruptedException {
    List<ShardData> last = new ArrayList<>();
    try {
      engine.store.read(
          object,
          new ByteRange(0, 5 * WINDOW),
          piece -> {
            if (last.isEmpty()) {
              begun.countDown();
              clientsRead.await();
            }
            last.forEach(ShardData::release);
            last.clear();
            last.add(piece);
          });
      unsent.addAll(last);
      return Reason.GONE;
    } catch (DataUnavailableException e) {
      begun.countDown();
      return e.reason();
    }
  }

  /** Its receiver keeps parts of an answer until they are 128 KiB, as the S3 port does. */
  @Test
  void aReadThatHasBegunNeverWaitsForItsOwnMemory() throws Exception {
    long most = 2 * WindowRead.bytesMax(FOUR_TWO, WINDOW / 4);
    EngineFixture engine = engine(8 * most);
    engine.put(new byte[OBJECT_BYTES], new Random(1));
    ObjectRead object = Objects.requireNonNull(engine.metadata.object);
    int whole = 0;
    for (long free = most / 2; free <= most; free += most / 20) {
      long others = 7 * most - free; // an eighth is kept for small requests
      engine.memory.release(-others);
      for (int from = 132_000; from < WINDOW / 4; from += 12_000) {
        whole += isRead(engine, object, new ByteRange(from, OBJECT_BYTES - from)) ? 1 : 0;
      }
      engine.memory.release(others);
    }
    assertTrue(whole > 0, "all were refused");
    assertEquals(0, engine.memory.reservedBytes());
  }

  /** False if it was refused before its first byte. */
  private static boolean isRead(EngineFixture engine, ObjectRead object, ByteRange range)
      throws InterruptedException {
    List<ShardData> kept = new ArrayList<>();
    long[] bytes = {0, 0};
    try {
      engine.store.read(
          object,
          range,
          piece -> {
            bytes[0] += piece.bytes().remaining();
            bytes[1] += piece.bytes().remaining();
            kept.add(piece);
            if (bytes[1] >= 128 << 10) {
              kept.forEach(ShardData::release);
              kept.clear();
              bytes[1] = 0;
            }
          });
      return true;
    } catch (DataUnavailableException e) {
      assertEquals(Reason.OVERLOADED, e.reason());
      assertEquals(0, bytes[0], () -> "delivered of " + range);
      return false;
    } finally {
      kept.forEach(ShardData::release);
    }
  }

  @Test
  void aSlotsMemoryIsFreeWhenItsDriveHasAnswered() throws Exception {
    EngineFixture engine =
        new EngineFixture(FOUR_TWO, new EngineConfig(WINDOW, 2, 1 << 30, Duration.ofMillis(50)));
    engine.drives.get(3).holdAnswers();
    engine.put(new byte[WINDOW], new Random(1));
    assertEquals(256 * 1024, engine.pool.lentBytes(), "only the late drive's");
    assertEquals(256 * 1024, engine.memory.reservedBytes());
    engine.drives.get(3).releaseAnswers();
    assertEquals(0, engine.memory.reservedBytes());
  }

  @Test
  void waitingRequestsAreServedInOrder() throws Exception {
    MemoryBudget budget = new MemoryBudget(10, Duration.ofSeconds(20));
    budget.reserve(8);
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<?> waiting =
          threads.submit(
              () -> {
                budget.reserve(6);
                return null;
              });
      while (budget.waiting() == 0) {
        Thread.onSpinWait();
      }
      budget.release(8);
      waiting.get();
    }
    assertEquals(6, budget.reservedBytes());
    budget.release(6);
    assertFalse(budget.tryReserve(6), "leaves less than half");
    assertTrue(budget.tryReserve(5));
  }
}
