package dev.ashlar.metadata.consensus.log;

import java.io.IOException;
import java.nio.file.Path;

/** The log could not be rewritten at the start; the existing log is not known to be damaged. */
public final class LogNotWrittenException extends IOException {
  private static final long serialVersionUID = 1;

  LogNotWrittenException(Path segment, IOException why) {
    super(
        String.format(
            "%s cannot be made durable: %s. Free space on its drive, or replace the drive, "
                + "and restart. Do not empty the folder because of this",
            segment, why));
    addSuppressed(why);
  }
}
