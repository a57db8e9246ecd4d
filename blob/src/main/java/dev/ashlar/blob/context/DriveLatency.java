package dev.ashlar.blob.context;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * Histogram of a drive's recent read latencies. Lateness is measured against each drive's own
 * history. Counts are halved periodically, so that old reads lose weight. Recording allocates
 * nothing. For any thread: races between updates are negligible for a percentile.
 */
public final class DriveLatency {
  public static final int WARM_READS = 128;

  private static final int REFRESH_READS = 64;
  private static final int HALVE_READS = 1024;
  private static final int PERCENTILE = 99;

  // Four buckets for each doubling, from 16 microseconds to half a minute.
  private static final int UNIT_SHIFT = 14;
  private static final int PER_DOUBLING_SHIFT = 2;
  private static final int PER_DOUBLING = 1 << PER_DOUBLING_SHIFT;
  private static final int BUCKETS = 84;

  private final AtomicIntegerArray counts = new AtomicIntegerArray(BUCKETS);
  private final AtomicInteger recorded = new AtomicInteger();
  private final long lateMinNanos;
  private volatile long lateNanos = Long.MAX_VALUE;

  DriveLatency(long lateMinNanos) {
    this.lateMinNanos = lateMinNanos;
  }

  /** Age at which a read is late; unlimited until enough reads were recorded. */
  public long lateNanos() {
    return lateNanos;
  }

  public void record(long nanos) {
    counts.incrementAndGet(bucket(nanos));
    int count = recorded.incrementAndGet();
    if (count % HALVE_READS == 0) {
      halve();
    }
    boolean isCold = lateNanos == Long.MAX_VALUE && count < WARM_READS;
    if (count % REFRESH_READS == 0 && !isCold) {
      lateNanos = Math.max(lateMinNanos, percentile());
    }
  }

  private void halve() {
    for (int i = 0; i < BUCKETS; i++) {
      int count = counts.get(i);
      counts.addAndGet(i, -(count - count / 2));
    }
  }

  private long percentile() {
    long sum = 0;
    for (int i = 0; i < BUCKETS; i++) {
      sum += counts.get(i);
    }
    long below = 0;
    for (int i = 0; i < BUCKETS; i++) {
      below += counts.get(i);
      if (100 * below >= PERCENTILE * sum) {
        return upperNanos(i);
      }
    }
    return upperNanos(BUCKETS - 1);
  }

  private static int bucket(long nanos) {
    long units = Math.max(0, nanos) >> UNIT_SHIFT;
    if (units < PER_DOUBLING) {
      return (int) units;
    }
    int doubling = 63 - Long.numberOfLeadingZeros(units) - PER_DOUBLING_SHIFT;
    int part = (int) (units >> doubling) - PER_DOUBLING;
    return Math.min(BUCKETS - 1, (doubling + 1) * PER_DOUBLING + part);
  }

  private static long upperNanos(int bucket) {
    if (bucket < PER_DOUBLING) {
      return (bucket + 1L) << UNIT_SHIFT;
    }
    int doubling = bucket / PER_DOUBLING - 1;
    long units = PER_DOUBLING + bucket % PER_DOUBLING + 1L;
    return units << (doubling + UNIT_SHIFT);
  }
}
