package dev.ashlar.metadata.consensus;

import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** How fast files are read and written in the background, and until when. Used by one thread. */
final class Pace {
  private static final long PER_SECOND_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final long bytesPerSecond;
  private final BooleanSupplier isPutOff;
  private long freeNanos = System.nanoTime();

  private Pace(long bytesPerSecond, BooleanSupplier isPutOff) {
    this.bytesPerSecond = bytesPerSecond;
    this.isPutOff = isPutOff;
  }

  /**
   * @param isPutOff whether something more urgent needs the files
   */
  static Pace of(long bytesPerSecond, BooleanSupplier isPutOff) {
    return new Pace(bytesPerSecond, isPutOff);
  }

  /** For what somebody waits for. */
  static Pace unlimited() {
    return new Pace(Long.MAX_VALUE, () -> false);
  }

  /**
   * @throws InterruptedException when the work is put off
   */
  void requireFree() throws InterruptedException {
    if (isPutOff.getAsBoolean()) {
      throw new InterruptedException("put off");
    }
  }

  /**
   * Called behind each piece of work; sleeps as long as that should have taken.
   *
   * @throws InterruptedException also when the work is put off
   */
  void done(long bytes) throws InterruptedException {
    requireFree();
    if (bytesPerSecond == Long.MAX_VALUE) {
      return;
    }
    long now = System.nanoTime();
    if (freeNanos - now < 0) {
      freeNanos = now;
    }
    freeNanos += (long) ((double) bytes / bytesPerSecond * PER_SECOND_NANOS);
    TimeUnit.NANOSECONDS.sleep(freeNanos - now);
  }
}
