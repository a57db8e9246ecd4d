package dev.ashlar.protocol.model;

import java.util.UUID;

/**
 * A drive, and which life of it: a wiped drive, or one whose recovery lost more than a torn tail,
 * comes back with a new incarnation, and what was acknowledged under the old one no longer counts.
 *
 * @param id chosen once, when the drive is formatted
 * @param incarnation positive, grows
 */
public record DriveId(UUID id, long incarnation) {
  public DriveId {
    if (incarnation < 1) {
      throw new IllegalArgumentException("incarnation " + incarnation);
    }
  }

  @Override
  public String toString() {
    return id + "#" + incarnation;
  }
}
