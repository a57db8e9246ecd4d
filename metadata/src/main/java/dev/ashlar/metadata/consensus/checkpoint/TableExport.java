package dev.ashlar.metadata.consensus.checkpoint;

import dev.ashlar.metadata.consensus.file.DurableFiles;
import dev.ashlar.metadata.table.TableScan;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;

/** The rows of one position in the log, in files that do not change; closing it removes them. */
public final class TableExport implements Closeable {
  private final Path directory;
  private final TableScan rows;
  private final Runnable afterwards;

  TableExport(Path directory, Runnable afterwards) {
    this.directory = directory;
    this.rows = new TableScan(directory);
    this.afterwards = afterwards;
  }

  public TableScan rows() {
    return rows;
  }

  @Override
  public void close() throws IOException {
    try {
      rows.close();
      DurableFiles.deleteTree(directory);
    } finally {
      afterwards.run();
    }
  }
}
