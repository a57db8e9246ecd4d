package dev.ashlar.storage.io;

/** How files are read and written. */
public enum IoMode {
  /**
   * Writes bypass the page cache where the file system allows it. Reads of more than {@link
   * #SMALL_READ_BYTES} do so too; smaller ones use it, because a hot small read then costs a
   * fortieth and a cold one no more.
   */
  AUTO,
  /** Whatever is aligned bypasses the page cache; a file system that refuses is an error. */
  DIRECT,
  /** Everything goes through the page cache. */
  BUFFERED;

  static final int SMALL_READ_BYTES = 64 * 1024;
}
