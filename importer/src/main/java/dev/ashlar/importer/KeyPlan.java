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
   * versions without a gap, because a copy always becomes the newest version. Of several that are
   * alike, the newest is the copy: older ones may be copies of what the source has deleted.
   */
  static KeyPlan of(KeyVersions source, KeyVersions target, Likeness likeness) throws IOException {
    List<Version> extra = new ArrayList<>();
    int matched = 0;
    for (Version each : target.versions()) {
      if (matched < source.versions().size()
          && likeness.isCopy(source.versions().get(matched), each)) {
        matched++;
      } else {
        extra.add(each);
      }
    }
    List<Version> missing = source.versions().subList(matched, source.versions().size());
    if (extra.isEmpty()) {
      return new KeyPlan(matched, missing, extra, false);
    }
    List<Version> rest = rest(source.versions().subList(0, matched), target, likeness);
    boolean isNewestExtra = rest.getLast().equals(target.versions().getLast());
    return new KeyPlan(
        matched, missing, rest, isNewestExtra && isNewer(rest.getLast(), source, missing));
  }

  /** What is left of the target, oldest first, if its newest versions are taken for copies. */
  private static List<Version> rest(List<Version> copied, KeyVersions target, Likeness likeness)
      throws IOException {
    List<Version> rest = new ArrayList<>();
    int left = copied.size();
    for (Version each : target.versions().reversed()) {
      if (left > 0 && likeness.isCopy(copied.get(left - 1), each)) {
        left--;
      } else {
        rest.add(each);
      }
    }
    return rest.reversed();
  }

  private static boolean isNewer(Version target, KeyVersions source, List<Version> missing) {
    return !source.versions().isEmpty()
        && (missing.isEmpty() || !target.modified().isBefore(missing.getFirst().modified()));
  }
}
