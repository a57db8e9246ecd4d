package dev.ashlar.metadata.consensus.file;

import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * Limits the rate of background reads and writes, and interrupts them for urgent work. Used by one
 * thread.
 */
public final class IoPacer {
  private static final long PER_SECOND_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final long bytesPerSecond;
  private final BooleanSupplier isPutOff;
  private long freeNanos = System.nanoTime();

  /**
   * @param isPutOff whether more urgent work needs the files
   */
  public IoPacer(long bytesPerSecond, BooleanSupplier isPutOff) {
    this.bytesPerSecond = bytesPerSecond;
    this.isPutOff = isPutOff;
  }

  /** For foreground work. */
  public static IoPacer unlimited() {
    return new IoPacer(Long.MAX_VALUE, () -> false);
  }

  /**
   * @throws InterruptedException when more urgent work is due
   */
  public void requireFree() throws InterruptedException {
    if (isPutOff.getAsBoolean()) {
      throw new InterruptedException("put off");
    }
  }

  /**
   * Called after each piece of work; sleeps as long as it should have taken.
   *
   * @throws InterruptedException also when more urgent work is due
   */
  public void done(long bytes) throws InterruptedException {
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
