package dev.ashlar.metadata.table;

import org.jspecify.annotations.Nullable;

/** Rows ordered by the unsigned bytes of their keys. All tables share one key space. */
public interface Table {
  byte @Nullable [] get(byte[] key);

  /** The rows from {@code from} (inclusive) to {@code to} (exclusive), standing on the first. */
  Cursor cursor(byte[] from, byte[] to);

  /** A position in a table; must be closed. */
  interface Cursor extends AutoCloseable {
    /** False beyond the last row of the range. */
    boolean isValid();

    byte[] key();

    byte[] value();

    void next();

    /** Moves to the first row at or after this key. */
    void seek(byte[] key);

    @Override
    void close();
  }
}
