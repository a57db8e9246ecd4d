package dev.ashlar.storage.drive.read;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.protocol.client.Answer;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.storage.drive.TestDrives;
import dev.ashlar.storage.drive.config.DriveConfig;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class DriveReadQueueTest {
  private static final DriveId DRIVE = new DriveId(new UUID(0, 1), 1);
  private static final int AT_ONCE = 2;

  private final ReadThreads threads =
      new ReadThreads(Thread.ofPlatform().daemon().factory(), Duration.ofMinutes(1));
  private final CountDownLatch release = new CountDownLatch(1);

  private DriveReadQueue lane(Duration stall) {
    DriveConfig.Limits limits = TestDrives.LIMITS.withTimeouts(stall, Duration.ofMinutes(1));
    return new DriveReadQueue(DRIVE, threads, AT_ONCE, limits, System::nanoTime);
  }

  @AfterEach
  void close() {
    release.countDown();
    threads.close();
  }

  /** A read that comes back with the release. */
  private Answer<DriveId> block(DriveReadQueue lane, CountDownLatch begun) {
    Answer<DriveId> told = new Answer<>();
    lane.run(
        () -> {
          begun.countDown();
          try {
            release.await();
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
          return () -> told.succeeded(DRIVE);
        },
        told);
    return told;
  }

  /** False if it is refused because the lane closes. */
  private boolean isTaken(DriveReadQueue lane) {
    Answer<DriveId> answer = new Answer<>();
    lane.run(() -> () -> answer.succeeded(DRIVE), answer);
    if (!answer.isDone()) {
      return true;
    }
    assertEquals(ShardFault.UNAVAILABLE, answer.awaitFault());
    return false;
  }

  @Test
  void parallelReadsAreLimited() throws Exception {
    DriveReadQueue lane = lane(Duration.ofSeconds(30));
    CountDownLatch begun = new CountDownLatch(AT_ONCE + 1);
    List<Answer<DriveId>> all = new ArrayList<>();
    for (int i = 0; i <= AT_ONCE; i++) {
      all.add(block(lane, begun));
    }
    while (begun.getCount() > 1) {
      Thread.sleep(1);
    }
    // Another lane's reads are run meanwhile, so threads there are.
    DriveReadQueue other = lane(Duration.ofSeconds(30));
    assertEquals("found", other.lookUp(() -> "found"));
    assertEquals(1, begun.getCount());
    release.countDown();
    for (Answer<DriveId> told : all) {
      assertEquals(DRIVE, told.await());
    }
  }

  @Test
  void closeWaitsForQueuedReads() throws Exception {
    DriveReadQueue lane = lane(Duration.ofSeconds(30));
    List<Answer<DriveId>> all = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      all.add(block(lane, new CountDownLatch(1)));
    }
    CompletableFuture<Boolean> closed = CompletableFuture.supplyAsync(lane::close);
    while (isTaken(lane)) { // until the close has begun
      Thread.sleep(1);
    }
    assertFalse(closed.isDone());
    release.countDown();
    assertTrue(closed.get());
    for (Answer<DriveId> told : all) {
      assertTrue(told.isDone());
    }
  }

  @Test
  void closeReportsAHangingRead() throws Exception {
    DriveReadQueue lane = lane(Duration.ofMillis(10));
    CountDownLatch begun = new CountDownLatch(1);
    Answer<DriveId> hanging = block(lane, begun);
    begun.await();
    assertFalse(lane.close());
    release.countDown();
    assertEquals(DRIVE, hanging.await());
  }

  @Test
  void readsBehindHangingOnesAreRefused() throws Exception {
    DriveReadQueue lane = lane(Duration.ofSeconds(30));
    CountDownLatch begun = new CountDownLatch(AT_ONCE);
    for (int i = 0; i < AT_ONCE; i++) {
      block(lane, begun);
    }
    begun.await();
    Answer<DriveId> waiting = block(lane, new CountDownLatch(1));
    lane.refuseWaiting();
    assertEquals(ShardFault.UNAVAILABLE, waiting.awaitFault());
    assertEquals(AT_ONCE, lane.inFlight());
  }
}
