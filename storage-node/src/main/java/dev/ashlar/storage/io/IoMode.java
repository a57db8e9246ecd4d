package dev.ashlar.storage.io;

/** How files are read and written. */
public enum IoMode {
  /**
   * Writes bypass the page cache if the file system supports it. Reads of more than {@link
   * #SMALL_READ_BYTES} do so too, unless they are repeated ({@link LongReads}). Smaller reads use
   * the page cache: a cached small read costs a fortieth, an uncached one no more.
   */
  AUTO,
  /** Aligned I/O bypasses the page cache; a file system without support is an error. */
  DIRECT,
  /** All I/O uses the page cache. */
  BUFFERED;

  static final int SMALL_READ_BYTES = 64 * 1024;
}
