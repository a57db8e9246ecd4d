package dev.ashlar.bench.engine;

/**
 * What a drive does at most, as clouds sell volumes.
 *
 * @param iosPerSecond reads and writes together; one of more than {@link #IO_BYTES} is several
 * @param bytesPerSecond read and written
 */
public record DriveRate(int iosPerSecond, long bytesPerSecond) {
  /** What Amazon EBS counts as one for volumes of its types gp3 and io2. */
  private static final int IO_BYTES = 256 << 10;

  public DriveRate {
    if (iosPerSecond < 1 || bytesPerSecond < 1) {
      throw new IllegalArgumentException(iosPerSecond + " I/Os, " + bytesPerSecond + " bytes");
    }
  }

  /** How long the drive is busy with one read or write of so many bytes. */
  long nanos(long bytes) {
    double iosSeconds = Math.ceilDiv(bytes, (long) IO_BYTES) / (double) iosPerSecond;
    return Math.round(1e9 * Math.max(iosSeconds, bytes / (double) bytesPerSecond));
  }
}
