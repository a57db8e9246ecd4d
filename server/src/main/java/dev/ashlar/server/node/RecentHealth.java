package dev.ashlar.server.node;

import dev.ashlar.gateway.health.HealthService.StoreState;
import dev.ashlar.server.admin.RunningServer.HealthPage;
import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The health of the store, found anew at most once in a while, however often it is asked for. */
final class RecentHealth implements StoreState {
  private static final long NANOS_MAX = Duration.ofSeconds(1).toNanos();

  private final Supplier<HealthPage> health;
  private final LongSupplier nanoTime;
  private final ReentrantLock finding = new ReentrantLock();
  private volatile @Nullable Found last;

  private record Found(HealthPage page, long nanos) {}

  RecentHealth(Supplier<HealthPage> health, LongSupplier nanoTime) {
    this.health = health;
    this.nanoTime = nanoTime;
  }

  @Override
  public boolean servesReads() {
    return now().servesReads();
  }

  @Override
  public boolean servesAllWrites() {
    return now().servesAllWrites();
  }

  private HealthPage now() {
    Found known = last;
    return known != null && isRecent(known) ? known.page : find();
  }

  /** One thread looks, the others wait for what it finds. */
  private HealthPage find() {
    finding.lock();
    try {
      Found known = last;
      if (known == null || !isRecent(known)) {
        HealthPage page = health.get();
        known = new Found(page, nanoTime.getAsLong());
        last = known;
      }
      return known.page;
    } finally {
      finding.unlock();
    }
  }

  private boolean isRecent(Found found) {
    return nanoTime.getAsLong() - found.nanos <= NANOS_MAX;
  }
}
