package dev.ashlar.metadata.consensus.folder;

import java.nio.file.Path;

/**
 * The present state of a metadata folder.
 *
 * @param reason why it is left out or rebuilt; empty for a member and for a folder found empty
 */
public record FolderStatus(Path folder, Standing standing, String reason) {

  /** How the peer of a folder takes part. */
  public enum Standing {
    /** A full peer. */
    MEMBER,
    /** Receives everything and has no vote until it holds everything committed without it. */
    REBUILDING,
    /** Damaged or not mounted: it is neither read nor written. */
    LEFT_OUT
  }
}
