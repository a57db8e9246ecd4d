package dev.ashlar.metadata.table;

import org.jspecify.annotations.Nullable;

/**
 * The tables of this peer cannot be read or written, because its drive fails or they are damaged.
 * Other peers may be fine, so this must not decide the result of a command.
 */
public sealed class TableFailureException extends IllegalStateException
    permits DamagedTablesException {
  private static final long serialVersionUID = 1;

  public TableFailureException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
