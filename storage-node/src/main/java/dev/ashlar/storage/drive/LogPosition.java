package dev.ashlar.storage.drive;

/**
 * A place between two batches of the log.
 *
 * @param sequence of the last batch before it; 0 before the first
 * @param segment where that batch lies; 0 before the first
 * @param offset in the segment, where that batch ends
 */
record LogPosition(long sequence, long segment, int offset) {
  static final LogPosition START = new LogPosition(0, 0, 0);
}
