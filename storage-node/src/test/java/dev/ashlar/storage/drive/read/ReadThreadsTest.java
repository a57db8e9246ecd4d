package dev.ashlar.storage.drive.read;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ReadThreadsTest {
  private static final Duration LONG = Duration.ofHours(1);

  private final List<Thread> made = new CopyOnWriteArrayList<>();
  private final List<Throwable> uncaught = new CopyOnWriteArrayList<>();
  private volatile boolean isOutOfThreads;
  private ReadThreads threads = withIdle(LONG);

  private ReadThreads withIdle(Duration idle) {
    return new ReadThreads(
        task -> {
          if (isOutOfThreads) {
            throw new OutOfMemoryError("on purpose");
          }
          Thread thread = Thread.ofPlatform().daemon().unstarted(task);
          thread.setUncaughtExceptionHandler((ended, why) -> uncaught.add(why));
          made.add(thread);
          return thread;
        },
        idle);
  }

  @AfterEach
  void close() {
    threads.close();
  }

  @Test
  void runsEachTaskOnce() throws InterruptedException {
    int count = 200_000;
    int producers = 4;
    AtomicIntegerArray runs = new AtomicIntegerArray(count);
    CountDownLatch done = new CountDownLatch(count);
    for (int producer = 0; producer < producers; producer++) {
      int from = producer;
      Thread.ofVirtual()
          .start(
              () -> {
                for (int i = from; i < count; i += producers) {
                  int index = i;
                  threads.execute(
                      () -> {
                        runs.incrementAndGet(index);
                        done.countDown();
                      });
                  if (i % 64 == from) {
                    LockSupport.parkNanos(1000); // threads fall asleep meanwhile
                  }
                }
              });
    }
    done.await();
    for (int i = 0; i < count; i++) {
      assertEquals(1, runs.get(i));
    }
  }

  @Test
  void blockedTasksDoNotDelayOthers() throws InterruptedException {
    int blocking = 20;
    CountDownLatch begun = new CountDownLatch(blocking);
    CountDownLatch release = new CountDownLatch(1);
    CountDownLatch other = new CountDownLatch(1);
    for (int i = 0; i < blocking; i++) {
      threads.execute(
          () -> {
            begun.countDown();
            awaitQuietly(release);
          });
    }
    threads.execute(other::countDown);
    begun.await();
    other.await();
    release.countDown();
    assertTrue(made.size() <= blocking + 1, () -> made.size() + " threads");
  }

  @Test
  void tasksOneAfterTheOtherNeedFewThreads() throws InterruptedException {
    Set<Thread> ran = ConcurrentHashMap.newKeySet();
    for (int i = 0; i < 1000; i++) {
      CountDownLatch done = new CountDownLatch(1);
      threads.execute(
          () -> {
            ran.add(Thread.currentThread());
            done.countDown();
          });
      done.await();
    }
    // One for all, but where tasks come before the thread of the one before looks again.
    assertTrue(ran.size() < 100, () -> ran.size() + " threads");
  }

  @Test
  void failingTaskDoesNotEndItsThread() throws InterruptedException {
    for (int i = 0; i < 10; i++) {
      threads.execute(
          () -> {
            throw new IllegalStateException("on purpose");
          });
    }
    CountDownLatch done = new CountDownLatch(1);
    threads.execute(done::countDown);
    done.await();
    close();
    for (Thread thread : made) {
      thread.join();
    }
    assertEquals(List.of(), uncaught);
  }

  @Test
  void existingThreadsDoAllTasksIfNoMoreCanStart() throws InterruptedException {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch release = new CountDownLatch(1);
    threads.execute(
        () -> {
          begun.countDown();
          awaitQuietly(release);
        });
    begun.await();
    isOutOfThreads = true;
    CountDownLatch done = new CountDownLatch(2);
    threads.execute(done::countDown);
    threads.execute(done::countDown);
    release.countDown();
    done.await();
    assertEquals(1, made.size());
  }

  @Test
  void anInterruptIsNotLeftToTheNextTask() throws InterruptedException {
    List<Boolean> interrupted = new CopyOnWriteArrayList<>();
    CountDownLatch done = new CountDownLatch(1);
    CountDownLatch queued = new CountDownLatch(1);
    threads.execute(
        () -> {
          awaitQuietly(queued);
          Thread.currentThread().interrupt();
        });
    isOutOfThreads = true;
    threads.execute(
        () -> {
          interrupted.add(Thread.currentThread().isInterrupted());
          done.countDown();
        });
    queued.countDown();
    done.await();
    assertEquals(List.of(false), interrupted);
  }

  @Test
  void idleThreadsEnd() throws InterruptedException {
    threads = withIdle(Duration.ofMillis(1));
    for (int round = 0; round < 20; round++) {
      CountDownLatch done = new CountDownLatch(8);
      for (int i = 0; i < 8; i++) {
        threads.execute(done::countDown);
      }
      done.await();
      TimeUnit.MILLISECONDS.sleep(round % 3);
    }
    for (Thread thread : made) {
      thread.join();
    }
  }

  @Test
  void threadsEndWithTheClose() throws InterruptedException {
    CountDownLatch begun = new CountDownLatch(8);
    CountDownLatch release = new CountDownLatch(1);
    for (int i = 0; i < 8; i++) {
      threads.execute(
          () -> {
            begun.countDown();
            awaitQuietly(release);
          });
    }
    begun.await();
    release.countDown();
    for (Thread thread : made) {
      while (thread.getState() != Thread.State.TIMED_WAITING) {
        TimeUnit.MILLISECONDS.sleep(1);
      }
    }
    CountDownLatch busy = new CountDownLatch(1);
    CountDownLatch end = new CountDownLatch(1);
    threads.execute(
        () -> {
          busy.countDown();
          awaitQuietly(end);
        });
    busy.await();
    threads.close();
    CountDownLatch later = new CountDownLatch(1);
    threads.execute(later::countDown);
    end.countDown();
    later.await();
    for (Thread thread : made) {
      thread.join();
    }
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
