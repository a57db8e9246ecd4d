package dev.ashlar.storage.drive;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.protocol.client.Completion;
import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.model.DriveId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ReadLaneTest {
  private static final DriveId DRIVE = new DriveId(new UUID(0, 1), 1);
  private static final int AT_ONCE = 2;

  private final ReadThreads threads =
      new ReadThreads(Thread.ofPlatform().daemon().factory(), Duration.ofMinutes(1));
  private final CountDownLatch release = new CountDownLatch(1);

  private ReadLane lane(Duration stall) {
    DriveConfig.Limits limits = TestDrives.LIMITS.withTimeouts(stall, Duration.ofMinutes(1));
    return new ReadLane(DRIVE, threads, AT_ONCE, limits, System::nanoTime);
  }

  @AfterEach
  void close() {
    release.countDown();
    threads.close();
  }

  private static final class Told implements Completion<DriveId> {
    final CompletableFuture<DriveId> future = new CompletableFuture<>();

    @Override
    public void succeeded(DriveId drive) {
      future.complete(drive);
    }

    @Override
    public void failed(ShardException failure) {
      future.completeExceptionally(failure);
    }

    ShardFault fault() {
      Throwable failure = assertThrows(ExecutionException.class, future::get).getCause();
      return assertInstanceOf(ShardException.class, failure).fault();
    }
  }

  /** A read that comes back with the release. */
  private Told block(ReadLane lane, CountDownLatch begun) {
    Told told = new Told();
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

  @Test
  void noMoreRunAtATimeThanMay() throws Exception {
    ReadLane lane = lane(Duration.ofSeconds(30));
    CountDownLatch begun = new CountDownLatch(AT_ONCE + 1);
    List<Told> all = new ArrayList<>();
    for (int i = 0; i <= AT_ONCE; i++) {
      all.add(block(lane, begun));
    }
    while (begun.getCount() > 1) {
      Thread.sleep(1);
    }
    // Another lane's reads are run meanwhile, so threads there are.
    ReadLane other = lane(Duration.ofSeconds(30));
    assertEquals("found", other.lookUp(() -> "found"));
    assertEquals(1, begun.getCount());
    release.countDown();
    for (Told told : all) {
      assertEquals(DRIVE, told.future.get());
    }
  }

  @Test
  void closeWaitsForWhatIsInLine() throws Exception {
    ReadLane lane = lane(Duration.ofSeconds(30));
    List<Told> all = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      all.add(block(lane, new CountDownLatch(1)));
    }
    CompletableFuture<Boolean> closed = CompletableFuture.supplyAsync(lane::close);
    Told late;
    do {
      Thread.sleep(1);
      late = new Told();
      Told told = late;
      lane.run(() -> () -> told.succeeded(DRIVE), told);
    } while (!late.future.isCompletedExceptionally()); // until the close has begun
    assertEquals(ShardFault.UNAVAILABLE, late.fault());
    assertFalse(closed.isDone());
    release.countDown();
    assertTrue(closed.get());
    for (Told told : all) {
      assertTrue(told.future.isDone());
    }
  }

  @Test
  void closeTellsOfAReadThatHangs() throws Exception {
    ReadLane lane = lane(Duration.ofMillis(10));
    CountDownLatch begun = new CountDownLatch(1);
    Told hanging = block(lane, begun);
    begun.await();
    assertFalse(lane.close());
    release.countDown();
    assertEquals(DRIVE, hanging.future.get());
  }

  @Test
  void whatWaitsBehindReadsThatHangIsRefused() throws Exception {
    ReadLane lane = lane(Duration.ofSeconds(30));
    CountDownLatch begun = new CountDownLatch(AT_ONCE);
    for (int i = 0; i < AT_ONCE; i++) {
      block(lane, begun);
    }
    begun.await();
    Told waiting = block(lane, new CountDownLatch(1));
    lane.dropWaiting();
    assertEquals(ShardFault.UNAVAILABLE, waiting.fault());
    assertEquals(AT_ONCE, lane.inFlight());
  }
}
