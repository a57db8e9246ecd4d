package dev.ashlar.blob.read;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.blob.DataUnavailableException.Reason;
import dev.ashlar.blob.context.DriveLatency;
import dev.ashlar.blob.context.EngineConfig;
import dev.ashlar.blob.context.Hedging;
import dev.ashlar.blob.context.Hedging.HedgeConfig;
import dev.ashlar.blob.context.MemoryBudget;
import dev.ashlar.blob.engine.EngineFixture;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.model.Profile;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Drives that answer late: time and answers are in the test's hands. */
@Timeout(60)
class HedgedReadTest {
  private static final Profile FOUR_TWO = Profile.parse("4+2", 16384);
  private static final int WHOLE = 8 * FOUR_TWO.stripeBytes();
  private static final int BUDGET_PERCENT = 5;

  private final AtomicLong nanos = new AtomicLong(1);
  private final AtomicLong clockReads = new AtomicLong();
  private final Hedging hedging =
      new Hedging(new HedgeConfig(BUDGET_PERCENT, Duration.ofMillis(10)), this::readClock);
  private final MemoryBudget memory = new MemoryBudget(64 << 20, Duration.ofSeconds(20));
  private final EngineFixture engine =
      new EngineFixture(FOUR_TWO, EngineConfig.DEFAULT, memory, hedging);
  private final List<HeldReads> drives = new ArrayList<>();
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final byte[] bytes = EngineFixture.bytes(new Random(1), WHOLE);

  HedgedReadTest() {
    for (int slot = 0; slot < FOUR_TWO.shards(); slot++) {
      HeldReads drive = new HeldReads(engine.drives.get(slot));
      drives.add(drive);
      engine.reachThrough(slot, drive);
      warm(slot);
    }
  }

  private long readClock() {
    clockReads.incrementAndGet();
    return nanos.get();
  }

  private void warm(int slot) {
    for (int i = 0; i < DriveLatency.WARM_READS; i++) {
      hedging.drive(drives.get(slot).drive().id()).record(100_000);
    }
  }

  @AfterEach
  void nothingIsHeldOnceAllIsAnswered() {
    for (HeldReads drive : drives) {
      drive.isScrambling = true;
      drive.release();
    }
    threads.close();
    assertEquals(0, engine.pool.lentBytes());
    assertEquals(0, memory.reservedBytes());
    assertEquals(0, hedging.watch().size());
  }

  private void earn(int reads) {
    for (int i = 0; i < reads * 100 / BUDGET_PERCENT; i++) {
      hedging.earn();
    }
  }

  private void hold(int... slots) {
    for (int slot : slots) {
      drives.get(slot).hold();
    }
  }

  /** Starts a read and lets it meet what is late. */
  private Future<byte[]> lateGet(int offset, int length) throws InterruptedException {
    return lateGet(() -> engine.get(offset, length));
  }

  private Future<byte[]> lateGet(Callable<byte[]> get) throws InterruptedException {
    Future<byte[]> got = threads.submit(get);
    while (hedging.watch().size() == 0) {
      Thread.sleep(1);
    }
    nanos.addAndGet(Duration.ofSeconds(1).toNanos());
    hedging.tick();
    return got;
  }

  private void awaitCount(String name, long count) throws InterruptedException {
    while (engine.count(name) < count) {
      Thread.sleep(1);
    }
  }

  private void assertRead(int offset, int length, Future<byte[]> got) throws Exception {
    assertArrayEquals(Arrays.copyOfRange(bytes, offset, offset + length), got.get());
  }

  private void assertHedges(long started, long won, long reads) {
    assertEquals(started, engine.count("ashlar.blob.hedges"), "hedges");
    assertEquals(won, engine.count("ashlar.blob.hedges.won"), "won");
    assertEquals(reads, engine.count("ashlar.blob.hedges.reads"), "reads");
  }

  @Test
  void aLateStripIsRebuiltAndItsAnswerDropped() throws Exception {
    engine.put(bytes, new Random(1));
    earn(10);
    hold(1);
    Future<byte[]> got = lateGet(0, WHOLE);
    assertRead(0, WHOLE, got);
    assertHedges(1, 1, 1);
    assertEquals(1, engine.count("ashlar.blob.rebuilt.reads"));
    assertEquals(0, memory.reservedBytes(), "a drive has its own memory while it reads");
    assertTrue(engine.pool.lentBytes() > 0, "the late drive's");
  }

  @Test
  void aLateRangeOfAStripTakesTheSameOfKOthers() throws Exception {
    engine.put(bytes, new Random(1));
    earn(4);
    hold(2);
    int offset = 2 * FOUR_TWO.stripeUnit() + 5000;
    assertRead(offset, 3000, lateGet(offset, 3000));
    assertHedges(1, 1, 4);
  }

  @Test
  void rangesOfDifferentPlacesInTheirStripsAreWidened() throws Exception {
    engine.put(bytes, new Random(1));
    earn(4);
    hold(1);
    int offset = FOUR_TWO.stripeUnit() - 4000;
    assertRead(offset, 6000, lateGet(offset, 6000));
    assertHedges(1, 1, 4);
  }

  @Test
  void aShortLastStripeIsPadded() throws Exception {
    int length = WHOLE - 3 * FOUR_TWO.stripeUnit() + 100;
    engine.put(Arrays.copyOf(bytes, length), new Random(1));
    earn(10);
    hold(0);
    assertRead(0, length, lateGet(0, length));
    assertHedges(1, 1, 1);
  }

  @Test
  void aLateOneStripBlobIsCopiedNotDecoded() throws Exception {
    engine.put(Arrays.copyOf(bytes, 5000), new Random(1));
    earn(1);
    hold(0);
    assertRead(100, 4000, lateGet(100, 4000));
    assertHedges(1, 1, 1);
    assertEquals(1, engine.drives.get(4).reads());
    assertEquals(0, engine.drives.get(5).reads());
  }

  @Test
  void theFirstCopyThatAnswersWins() throws Exception {
    engine.put(Arrays.copyOf(bytes, 5000), new Random(1));
    earn(2);
    hold(0, 4);
    Future<byte[]> got = lateGet(0, 5000);
    awaitCount("ashlar.blob.hedges", 1);
    nanos.addAndGet(Duration.ofSeconds(1).toNanos());
    assertRead(0, 5000, got);
    assertHedges(2, 1, 2);
  }

  @Test
  void hedgesNeverTakeMoreThanTheirShareOfReads() throws Exception {
    engine.put(Arrays.copyOf(bytes, 5000), new Random(1));
    for (int i = 1; i <= 100; i++) {
      warm(0); // else it becomes known as slow
      hold(0);
      Future<byte[]> got = lateGet(0, 5000);
      int earned = i * BUDGET_PERCENT / 100;
      awaitCount("ashlar.blob.hedges", earned);
      awaitCount("ashlar.blob.hedges.refused", i - earned);
      drives.get(0).release();
      assertRead(0, 5000, got);
    }
    assertHedges(5, 5, 5);
    assertEquals(95, engine.count("ashlar.blob.hedges.refused"));
    assertEquals(100, engine.drives.get(0).reads());
    assertEquals(5, engine.drives.get(4).reads());
  }

  @Test
  void savedBudgetIsBounded() {
    earn(100_000);
    assertFalse(hedging.trySpend(101));
    assertTrue(hedging.trySpend(100));
    assertFalse(hedging.trySpend(1));
  }

  @Test
  void aWidthThatTheBudgetDoesNotCarryIsNotBegun() throws Exception {
    engine.put(bytes, new Random(1));
    earn(3);
    hold(2);
    int offset = 2 * FOUR_TWO.stripeUnit();
    Future<byte[]> got = lateGet(offset, 3000);
    awaitCount("ashlar.blob.hedges.refused", 1);
    assertEquals(1, drives.stream().filter(drive -> drive.held() > 0).count());
    drives.get(2).release();
    assertRead(offset, 3000, got);
    assertHedges(0, 0, 0);
  }

  @Test
  void withoutMemoryLateDrivesAreWaitedFor() throws Exception {
    engine.put(Arrays.copyOf(bytes, 5000), new Random(1));
    earn(10);
    hold(0);
    long others = memory.limitBytes() / 2 + SlabPool.slabBytes(8192);
    memory.reserve(others);
    Future<byte[]> got = lateGet(0, 5000);
    awaitCount("ashlar.blob.hedges.refused", 1);
    drives.get(0).release();
    assertRead(0, 5000, got);
    assertHedges(0, 0, 0);
    assertTrue(hedging.trySpend(10), "the budget was not touched");
    memory.release(others);
  }

  @Test
  void withADriveLostTheNextOneIsHedged() throws Exception {
    engine.put(bytes, new Random(1));
    earn(10);
    engine.remove(0);
    hold(1);
    assertRead(0, WHOLE, lateGet(0, WHOLE));
    assertHedges(1, 1, 1);
    assertEquals(2, engine.count("ashlar.blob.rebuilt.reads"));
  }

  @Test
  void lateSourceOfLostStripIsHedged() throws Exception {
    engine.put(bytes, new Random(1));
    earn(10);
    engine.remove(0);
    hold(2);
    assertRead(0, 3000, lateGet(0, 3000));
    assertHedges(1, 1, 1);
    assertEquals(1, engine.count("ashlar.blob.rebuilt.reads"));
  }

  @Test
  void lateCopyOfLostStripIsHedged() throws Exception {
    engine.put(Arrays.copyOf(bytes, 5000), new Random(1));
    earn(1);
    engine.remove(0);
    hold(4);
    assertRead(0, 5000, lateGet(0, 5000));
    assertHedges(1, 1, 1);
  }

  @Test
  void aHedgeThatLosesIsDropped() throws Exception {
    engine.put(bytes, new Random(1));
    earn(10);
    hold(1, 4, 5);
    Future<byte[]> got = lateGet(0, WHOLE);
    awaitCount("ashlar.blob.hedges", 1);
    drives.get(1).release();
    assertRead(0, WHOLE, got);
    assertHedges(1, 0, 1);
    assertEquals(0, engine.count("ashlar.blob.rebuilt.reads"));
  }

  @Test
  void aLateDriveThatThenHasNothingIsRebuilt() throws Exception {
    for (int length : new int[] {WHOLE, 5000}) {
      engine.put(Arrays.copyOf(bytes, length), new Random(1));
      earn(10);
      int late = length == WHOLE ? 1 : 0;
      hold(late, 4, 5);
      long before = engine.count("ashlar.blob.hedges");
      Future<byte[]> got = lateGet(0, length);
      awaitCount("ashlar.blob.hedges", before + 1);
      drives.get(late).fault = ShardFault.MISSING;
      drives.get(late).release();
      drives.get(4).release();
      assertRead(0, length, got);
      drives.get(5).release();
      drives.get(late).fault = null;
    }
  }

  @Test
  void aHedgeThatFailsHarmsNothing() throws Exception {
    for (ShardFault fault :
        List.of(ShardFault.REVISION_GONE, ShardFault.UNAVAILABLE, ShardFault.OVERLOADED)) {
      engine.put(bytes, new Random(1));
      earn(10);
      hold(1);
      drives.get(4).fault = fault;
      drives.get(5).fault = fault;
      long before = engine.count("ashlar.blob.hedges");
      Future<byte[]> got = lateGet(0, WHOLE);
      awaitCount("ashlar.blob.hedges", before + 2);
      drives.get(1).release();
      assertRead(0, WHOLE, got);
    }
    assertEquals(0, engine.count("ashlar.blob.hedges.won"));
  }

  @Test
  void lostDataIsUnavailableHedgedOrNot() throws Exception {
    engine.put(bytes, new Random(1));
    earn(10);
    hold(1);
    drives.get(1).fault = ShardFault.MISSING;
    drives.get(4).fault = ShardFault.IO_ERROR;
    drives.get(5).fault = ShardFault.IO_ERROR;
    Future<byte[]> got = lateGet(0, WHOLE);
    awaitCount("ashlar.blob.hedges", 2);
    drives.get(1).release();
    ExecutionException e = assertThrows(ExecutionException.class, got::get);
    DataUnavailableException why = assertInstanceOf(DataUnavailableException.class, e.getCause());
    assertEquals(Reason.TOO_FEW_DRIVES, why.reason());
  }

  @Test
  void severalLateDrivesAreReplacedByAsManyOthers() throws Exception {
    engine.put(bytes, new Random(1));
    earn(10);
    hold(0, 3);
    assertRead(0, WHOLE, lateGet(0, WHOLE));
    assertHedges(1, 1, 2);
    assertEquals(2, engine.count("ashlar.blob.rebuilt.reads"));
  }

  @Test
  void whereTooManyAreLateTheFirstKWin() throws Exception {
    engine.put(bytes, new Random(1));
    earn(10);
    hold(0, 1, 3);
    Future<byte[]> got = lateGet(0, WHOLE);
    awaitCount("ashlar.blob.hedges", 1);
    drives.get(3).release();
    assertRead(0, WHOLE, got);
    assertHedges(1, 1, 2);
    assertEquals(2, engine.count("ashlar.blob.rebuilt.reads"));
  }

  /**
   * Of the shards that are asked beside the late ones, one has no bytes of what is still missing:
   * it is late, and nobody needs it.
   */
  @Test
  void readerSleepsWhileAnUnneededReadIsLate() throws Exception {
    int unit = FOUR_TWO.stripeUnit();
    int offset = 3 * unit;
    int length = 2 * unit;
    engine.put(Arrays.copyOf(bytes, offset + length), new Random(1));
    earn(10);
    hold(0, 1, 2, 3, 4, 5);
    CompletableFuture<Thread> reader = new CompletableFuture<>();
    Future<byte[]> got =
        lateGet(
            () -> {
              reader.complete(Thread.currentThread());
              return engine.get(offset, length);
            });
    awaitCount("ashlar.blob.hedges", 1);
    drives.get(3).release();
    nanos.addAndGet(Duration.ofSeconds(1).toNanos());
    awaitSleep(reader.get());
    drives.get(4).release();
    assertRead(offset, length, got);
  }

  /**
   * A strip is lost, and so is another one when it is read again for the sake of the first: then
   * more is missing than the other drives were asked for.
   */
  @Test
  void aDriveThatWasAskedForTooLittleIsWaitedForAndAskedAgain() throws Exception {
    engine.put(bytes, new Random(1));
    int offset = FOUR_TWO.stripeUnit() - 100;
    hold(0);
    Future<byte[]> got = threads.submit(() -> engine.get(offset, 200));
    while (hedging.watch().size() == 0) {
      Thread.sleep(1);
    }
    hold(1, 4);
    drives.get(0).fault = ShardFault.MISSING;
    drives.get(0).release();
    while (drives.get(4).held() == 0) {
      Thread.sleep(1);
    }
    drives.get(1).fault = ShardFault.CORRUPT;
    drives.get(1).release();
    Thread.sleep(100); // long enough to give up
    drives.get(4).release();
    assertRead(offset, 200, got);
  }

  /** Until the thread has looked at the time, and then waits. */
  private void awaitSleep(Thread reader) throws InterruptedException {
    long before = clockReads.get();
    long seen;
    do {
      seen = clockReads.get();
      Thread.sleep(20);
    } while (seen == before
        || seen != clockReads.get()
        || reader.getState() != Thread.State.TIMED_WAITING);
  }
}
