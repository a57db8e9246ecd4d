package dev.ashlar.gateway.http;

/** Detects a peer that is too slow, from a byte counter that is read at every tick. */
final class ProgressWatch {
  private int ticks;
  private long markBytes;

  /** Restarts the measurement, because the peer has nothing to send or receive. */
  void reset(long totalBytes) {
    ticks = 0;
    markBytes = totalBytes;
  }

  /** Whether the counter grew by fewer than {@code bytesMin} in {@code windowTicks} ticks. */
  boolean stalled(long totalBytes, int windowTicks, long bytesMin) {
    if (++ticks < windowTicks) {
      return false;
    }
    boolean stalled = totalBytes - markBytes < bytesMin;
    reset(totalBytes);
    return stalled;
  }
}
