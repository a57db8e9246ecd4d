package dev.ashlar.metadata.table;

/** The row is not in memory; ask again where waiting for the disk is allowed. */
final class NotCachedException extends RuntimeException {
  private static final long serialVersionUID = 1;

  NotCachedException() {
    super("not in the block cache", null, false, false);
  }
}
