package dev.ashlar.gateway.lifecycle;

import dev.ashlar.protocol.message.Tag;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Which versions a rule is about: those that meet all of it.
 *
 * @param isOldForm whether it was given as a Prefix of the rule, without a Filter
 * @param prefix of keys; null: not given
 * @param tags that a version has to have
 * @param sizeAbove a version has to be larger; -1: not given
 * @param sizeBelow a version has to be smaller; -1: not given
 */
public record LifecycleFilter(
    boolean isOldForm, @Nullable String prefix, List<Tag> tags, long sizeAbove, long sizeBelow) {
  public LifecycleFilter {
    tags = List.copyOf(tags);
    if (isOldForm && (prefix == null || !tags.isEmpty() || sizeAbove >= 0 || sizeBelow >= 0)) {
      throw new IllegalArgumentException("the old form has a prefix only");
    }
  }

  /** How many conditions were given. */
  int conditions() {
    return (prefix == null ? 0 : 1)
        + tags.size()
        + (sizeAbove >= 0 ? 1 : 0)
        + (sizeBelow >= 0 ? 1 : 0);
  }

  /** The prefix that keys have to have; empty: none. */
  public String keyPrefix() {
    return prefix == null ? "" : prefix;
  }

  public boolean hasTags() {
    return !tags.isEmpty();
  }

  public boolean hasSizes() {
    return sizeAbove >= 0 || sizeBelow >= 0;
  }

  boolean matchesKey(String key) {
    return prefix == null || key.startsWith(prefix);
  }

  boolean matchesSize(long size) {
    return size > sizeAbove && (sizeBelow < 0 || size < sizeBelow);
  }

  boolean matchesTags(List<Tag> present) {
    return tags.isEmpty() || present.containsAll(tags);
  }

  /** Delete markers have neither tags nor a size. */
  boolean matchesMarkers() {
    return !hasTags() && !hasSizes();
  }
}
