package dev.ashlar.metadata.table;

/** A table file cannot be read or has a wrong checksum: the tables have to be rebuilt. */
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
   * Whether wrong content or a missing file was found; otherwise a read failed, which may be
   * temporary.
   */
  public boolean isCertain() {
    return isCertain;
  }
}
