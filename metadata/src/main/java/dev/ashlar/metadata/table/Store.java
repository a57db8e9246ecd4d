package dev.ashlar.metadata.table;

/** A table that can be changed: all changes of a log entry or none. */
public interface Store extends Table {
  /** Makes the changes visible at once. */
  void write(Changes changes);
}
