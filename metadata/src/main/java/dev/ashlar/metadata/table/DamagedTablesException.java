package dev.ashlar.metadata.table;

/** A file of the tables cannot be read or fails its checksum: they have to be rebuilt. */
public final class DamagedTablesException extends TableFailureException {
  private static final long serialVersionUID = 1;

  private final boolean isCertain;

  public DamagedTablesException(String what) {
    super(what, null);
    isCertain = true;
  }

  /**
   * @param isCertain as {@link #isCertain}
   */
  DamagedTablesException(String what, Throwable cause, boolean isCertain) {
    super(what, cause);
    this.isCertain = isCertain;
  }

  /**
   * Whether something was read that is wrong, or is missing; else a read failed, which may pass.
   */
  public boolean isCertain() {
    return isCertain;
  }
}
