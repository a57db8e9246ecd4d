package dev.ashlar.metadata.table;

import java.util.NavigableMap;
import java.util.Optional;

/** A table that takes changes, all of a log entry or none. */
public interface Store extends Table {
  /**
   * Makes the changes visible at once.
   *
   * @param changes the new value per key; empty removes the row
   */
  void write(NavigableMap<byte[], Optional<byte[]>> changes);
}
