package dev.ashlar.metadata.consensus.checkpoint;

import dev.ashlar.metadata.consensus.file.DamagedFileException;
import dev.ashlar.metadata.table.DamagedTablesException;
import java.nio.file.NoSuchFileException;
import org.apache.ratis.protocol.exceptions.ChecksumException;

/**
 * Distinguishes damage from failures that may be temporary, such as a full drive or too many open
 * files.
 */
final class DamageCheck {
  private DamageCheck() {}

  /** Whether the failure was caused by wrong bytes or a missing file. */
  static boolean isCauseOf(Throwable failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      boolean isDamage =
          switch (cause) {
            case DamagedFileException e -> true;
            case NoSuchFileException e -> true;
            case ChecksumException e -> true;
            case DamagedTablesException e -> e.isCertain();
            default -> false;
          };
      if (isDamage) {
        return true;
      }
    }
    return false;
  }
}
