package dev.ashlar.gateway.http;

/** Tells from regular looks at a byte counter whether a peer is too slow. */
final class ProgressWatch {
  private int ticks;
  private long markBytes;

  /** The peer owes nothing now. */
  void reset(long totalBytes) {
    ticks = 0;
    markBytes = totalBytes;
  }

  /** Whether the peer moved fewer than {@code bytesMin} in the last {@code windowTicks} looks. */
  boolean stalled(long totalBytes, int windowTicks, long bytesMin) {
    if (++ticks < windowTicks) {
      return false;
    }
    boolean stalled = totalBytes - markBytes < bytesMin;
    reset(totalBytes);
    return stalled;
  }
}
