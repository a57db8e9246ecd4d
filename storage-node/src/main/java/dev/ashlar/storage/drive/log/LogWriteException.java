package dev.ashlar.storage.drive.log;

import dev.ashlar.storage.drive.segment.Segment;
import java.io.IOException;

/**
 * A write or sync of the log has failed. Only after this is it not known what the drive kept: where
 * anything else goes wrong (no memory, a bug, the index, a file that cannot be made), what was
 * synced before is as it was, and what was not is like a write that a crash cut off.
 */
public final class LogWriteException extends IOException {
  private static final long serialVersionUID = 1;

  LogWriteException(Segment segment, IOException cause) {
    super("writing to " + segment + ": " + cause.getMessage(), cause);
  }
}
