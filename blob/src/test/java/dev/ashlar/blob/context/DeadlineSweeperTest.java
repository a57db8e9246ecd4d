package dev.ashlar.blob.context;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.blob.engine.EngineFixture;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.model.Profile;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Threads that wait for drives without a deadline of their own. */
@Timeout(60)
class DeadlineSweeperTest {
  private static final Profile FOUR_TWO = Profile.parse("4+2", 16 << 10);
  private static final Duration DEADLINE = Duration.ofMillis(100);
  private static final Duration NEVER = Duration.ofMinutes(5);

  private final byte[] bytes = EngineFixture.bytes(new Random(5), 300_000);

  private static Hedging hedging() {
    return new Hedging(Hedging.HedgeConfig.OFF, System::nanoTime);
  }

  private static EngineFixture engine(Duration driveDeadline, Hedging hedging) {
    EngineConfig config = new EngineConfig(1 << 20, 2, 1 << 30, driveDeadline);
    MemoryBudget memory = new MemoryBudget(64 << 20, Duration.ofSeconds(20));
    return new EngineFixture(FOUR_TWO, config, memory, hedging);
  }

  @Test
  void aWriteIsWokenAtItsDeadline() throws Exception {
    try (Hedging hedging = hedging()) {
      hedging.start();
      EngineFixture engine = engine(DEADLINE, hedging);
      engine.drives.get(3).holdAnswers();
      assertEquals(ResultCode.OK, engine.put(bytes, new Random(1)).getCode());
      assertEquals(List.of(3), engine.metadata.rows.values().iterator().next().getDebtSlotsList());
      engine.drives.get(3).releaseAnswers();
      assertEquals(0, hedging.watch().size());
      assertEquals(0, engine.pool.lentBytes());
    }
  }

  @Test
  void aReadIsWokenAtItsDeadline() throws Exception {
    try (Hedging hedging = hedging()) {
      hedging.start();
      EngineFixture engine = engine(DEADLINE, hedging);
      engine.put(bytes, new Random(1));
      engine.drives.get(1).holdAnswers();
      assertArrayEquals(bytes, engine.get(0, bytes.length));
      engine.drives.get(1).releaseAnswers();
      assertEquals(0, hedging.watch().size());
      assertEquals(0, engine.pool.lentBytes());
    }
  }

  /** With nobody to tell them, they need deadlines of their own again. */
  @Test
  void endOfTheSweepWakesWaitingThreads() throws Exception {
    Hedging hedging = hedging();
    EngineFixture engine = engine(Duration.ofSeconds(3), hedging);
    engine.put(bytes, new Random(1));
    engine.drives.get(1).holdAnswers();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      try {
        Future<byte[]> read;
        Future<ResultCode> write;
        try (hedging) {
          hedging.start();
          read = threads.submit(() -> engine.get(0, bytes.length));
          write = threads.submit(() -> engine.put(bytes, new Random(1)).getCode());
          awaitWaiting(hedging, 2);
        }
        assertArrayEquals(bytes, read.get());
        assertEquals(ResultCode.OK, write.get());
      } finally {
        engine.drives.get(1).releaseAnswers(); // else the threads may never end
      }
    }
  }

  @Test
  void failedSweepLeavesNoThreadWaiting() throws Exception {
    try (Hedging hedging = hedging()) {
      EngineFixture engine = engine(DEADLINE, hedging);
      hedging
          .watch()
          .add(
              new DeadlineSweeper.Wait() {
                @Override
                public void wakeIfDue() {
                  throw new IllegalStateException("fails on purpose");
                }

                @Override
                public void wake() {}
              });
      hedging.start();
      while (hedging.isWatching()) {
        Thread.sleep(1);
      }
      engine.drives.get(3).holdAnswers();
      assertEquals(ResultCode.OK, engine.put(bytes, new Random(1)).getCode());
      engine.drives.get(3).releaseAnswers();
    }
  }

  @Test
  void anAnswerEndsTheWait() throws Exception {
    try (Hedging hedging = hedging()) {
      hedging.start();
      EngineFixture engine = engine(NEVER, hedging);
      engine.put(bytes, new Random(1));
      engine.drives.get(1).holdAnswers();
      try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
        Future<byte[]> read = threads.submit(() -> engine.get(0, bytes.length));
        awaitWaiting(hedging, 1);
        engine.drives.get(1).releaseAnswers();
        assertArrayEquals(bytes, read.get());
      }
    }
  }

  @Test
  void waitWithoutAPlaceUsesATimeout() throws Exception {
    try (Hedging hedging = hedging()) {
      hedging.start();
      DeadlineSweeper.Wait nobody =
          new DeadlineSweeper.Wait() {
            @Override
            public void wakeIfDue() {}

            @Override
            public void wake() {}
          };
      while (hedging.watch().add(nobody) != DeadlineSweeper.NO_PLACE) {
        // Places near this thread's are taken one after the other.
      }
      EngineFixture engine = engine(DEADLINE, hedging);
      engine.drives.get(3).holdAnswers();
      assertEquals(ResultCode.OK, engine.put(bytes, new Random(1)).getCode());
      engine.drives.get(3).releaseAnswers();
    }
  }

  private static void awaitWaiting(Hedging hedging, int count) throws InterruptedException {
    while (hedging.watch().size() < count) {
      Thread.sleep(1);
    }
  }
}
