package dev.ashlar.metadata.table;

/** The tables were closed before or during a read. */
public final class TablesClosedException extends IllegalStateException {
  private static final long serialVersionUID = 1;

  TablesClosedException() {
    super("the metadata tables are closed");
  }
}
