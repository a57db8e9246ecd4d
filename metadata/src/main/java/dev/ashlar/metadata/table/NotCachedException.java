package dev.ashlar.metadata.table;

/** The row is not in memory; repeat the read on a thread that may wait for the drive. */
final class NotCachedException extends RuntimeException {
  private static final long serialVersionUID = 1;

  NotCachedException() {
    super("not in the block cache", null, false, false);
  }
}
