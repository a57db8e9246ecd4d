package dev.ashlar.gateway.lifecycle;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A rule.
 *
 * @param id unique in its bucket
 * @param expiration of present versions; null: none
 * @param noncurrentExpiration of other versions; null: none
 * @param abortDays after which an incomplete upload is aborted; 0: never
 */
public record LifecycleRule(
    String id,
    boolean isEnabled,
    LifecycleFilter filter,
    @Nullable Expiration expiration,
    List<Transition> transitions,
    @Nullable NoncurrentExpiration noncurrentExpiration,
    List<NoncurrentTransition> noncurrentTransitions,
    int abortDays) {
  public LifecycleRule {
    transitions = List.copyOf(transitions);
    noncurrentTransitions = List.copyOf(noncurrentTransitions);
  }

  /**
   * When present versions expire. Delete markers with nothing below them are removed when they are
   * as old as that.
   *
   * @param when null: never
   * @param removesMarkers without a time: removes delete markers with nothing below them, however
   *     old they are
   */
  public record Expiration(@Nullable When when, boolean removesMarkers) {
    public Expiration {
      if (when != null && removesMarkers) {
        throw new IllegalArgumentException("a time and markers");
      }
    }
  }

  /**
   * When present versions are moved.
   *
   * @param storageClass its name
   */
  public record Transition(When when, String storageClass) {}

  /**
   * When versions are deleted that are not the present ones.
   *
   * @param days since a newer version came
   * @param newerKept so many newer ones, beside the present one, have to exist; 0: none
   */
  public record NoncurrentExpiration(int days, int newerKept) {}

  /** When they are moved, likewise. */
  public record NoncurrentTransition(int days, int newerKept, String storageClass) {}

  boolean moves() {
    return !transitions.isEmpty() || !noncurrentTransitions.isEmpty();
  }

  boolean deletes() {
    return expiration != null || noncurrentExpiration != null;
  }
}
