package dev.ashlar.importer;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * What has to be done to a key of the target.
 *
 * @param missing versions of the source to copy, oldest first
 * @param extra versions of the target that the source does not have
 * @param isDiverged whether the target has something newer than what would be copied, which the
 *     source does not have: somebody else has written it
 */
record KeyPlan(int equal, List<Version> missing, List<Version> extra, boolean isDiverged) {
  /** Whether a version of the target is a copy of this one of the source. */
  @FunctionalInterface
  interface Likeness {
    boolean isCopy(Version source, Version target) throws IOException;
  }

  /**
   * Versions are matched in order: what the target has of the source must be the source's oldest
   * versions without a gap, because a copy always becomes the newest version.
   */
  static KeyPlan of(KeyVersions source, KeyVersions target, Likeness likeness) throws IOException {
    int matched = 0;
    List<Version> extra = new ArrayList<>();
    boolean isNewestExtra = false;
    for (Version each : target.versions()) {
      boolean isCopy =
          matched < source.versions().size()
              && likeness.isCopy(source.versions().get(matched), each);
      if (isCopy) {
        matched++;
      } else {
        extra.add(each);
      }
      isNewestExtra = !isCopy;
    }
    List<Version> missing = source.versions().subList(matched, source.versions().size());
    return new KeyPlan(
        matched, missing, extra, isNewestExtra && isNewer(extra.getLast(), source, missing));
  }

  private static boolean isNewer(Version target, KeyVersions source, List<Version> missing) {
    return source.versions().isEmpty()
        ? false
        : missing.isEmpty() || !target.modified().isBefore(missing.getFirst().modified());
  }

  boolean isEqual() {
    return missing.isEmpty() && extra.isEmpty();
  }
}
