package dev.ashlar.metadata.table;

/** A file of the tables cannot be read or fails its checksum: they have to be rebuilt. */
public final class DamagedTablesException extends TableFailureException {
  private static final long serialVersionUID = 1;

  public DamagedTablesException(String what) {
    super(what, null);
  }

  DamagedTablesException(String what, Throwable cause) {
    super(what, cause);
  }
}
