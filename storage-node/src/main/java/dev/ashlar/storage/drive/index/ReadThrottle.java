package dev.ashlar.storage.drive.index;

/** Limits the rate of background reads. */
public interface ReadThrottle {
  /** Reads without a limit and is never stopped. */
  ReadThrottle NONE = bytes -> true;

  /** Waits until this many more bytes may be read; false if reading has to stop. */
  boolean take(int bytes);
}
