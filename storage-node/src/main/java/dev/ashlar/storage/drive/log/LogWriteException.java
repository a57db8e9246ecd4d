package dev.ashlar.storage.drive.log;

import dev.ashlar.storage.drive.segment.Segment;
import java.io.IOException;

/**
 * A failed write or sync of the log. Only after this failure the stored data is in doubt. After all
 * others (no memory, a bug, the index, a file that cannot be created) synced data is intact, and
 * other data is like a write interrupted by a crash.
 */
public final class LogWriteException extends IOException {
  private static final long serialVersionUID = 1;

  LogWriteException(Segment segment, IOException cause) {
    super("writing to " + segment + " failed: " + cause.getMessage(), cause);
  }
}
