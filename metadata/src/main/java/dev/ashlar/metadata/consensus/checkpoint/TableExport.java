package dev.ashlar.metadata.consensus.checkpoint;

import dev.ashlar.metadata.consensus.file.DurableFiles;
import dev.ashlar.metadata.table.TableScan;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** The rows of one position in the log, in files that do not change; closing it removes them. */
public final class TableExport implements Closeable {
  /** A client that takes no bytes for so long has gone. */
  private static final long ABANDONED_NANOS = TimeUnit.MINUTES.toNanos(2);

  /** Files that metadata has removed stay for so long at most, however slowly they are read. */
  private static final long OVER_NANOS = TimeUnit.HOURS.toNanos(12);

  private final long begunNanos = System.nanoTime();
  private final Path directory;
  private final TableScan rows;
  private volatile boolean isClosed;

  TableExport(Path directory) {
    this.directory = directory;
    this.rows = new TableScan(directory);
  }

  /** Whether nobody reads it, or has for too long. */
  boolean isOver() {
    boolean isLong = System.nanoTime() - begunNanos > OVER_NANOS;
    return isClosed || isLong || rows.idleNanos() > ABANDONED_NANOS;
  }

  public TableScan rows() {
    return rows;
  }

  /** Returns when the files are gone, also if another thread has begun to close it. */
  @Override
  public synchronized void close() throws IOException {
    if (!isClosed) {
      isClosed = true;
      rows.close();
      DurableFiles.deleteTree(directory);
    }
  }
}
