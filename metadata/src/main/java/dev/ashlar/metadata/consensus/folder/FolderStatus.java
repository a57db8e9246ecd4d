package dev.ashlar.metadata.consensus.folder;

import java.nio.file.Path;

/**
 * How a metadata folder takes part now.
 *
 * @param reason why it is left out, or rebuilt; empty of a member, and where it was found empty
 */
public record FolderStatus(Path folder, Standing standing, String reason) {

  /** What a folder's peer does. */
  public enum Standing {
    /** A full peer. */
    MEMBER,
    /** Receives everything and has no vote until it holds what was committed without it. */
    REBUILDING,
    /** Damaged or not mounted: nothing of it is used and nothing is written to it. */
    LEFT_OUT
  }
}
