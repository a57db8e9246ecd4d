package dev.ashlar.metadata.table;

/**
 * The tables of this peer cannot be read or written: its drive fails, or they are damaged. Other
 * peers need not have that, so it must not decide what becomes of a command.
 */
public final class TableFailureException extends IllegalStateException {
  private static final long serialVersionUID = 1;

  public TableFailureException(String message, Throwable cause) {
    super(message, cause);
  }
}
