package dev.ashlar.server.jobs;

import java.time.Duration;
import java.util.List;

/**
 * How far the delivery of events is.
 *
 * @param waiting events in the outbox
 * @param lost events that were not written because it was full, since the store was created
 * @param oldestMs when the oldest event in it happened; 0: there is none
 * @param unknown events at hand whose target is not configured
 * @param unknownOldestMs when the oldest of these happened; 0: there is none
 * @param unknownTargets ARNs of some of these
 */
public record DeliveryState(
    long waiting,
    long lost,
    long oldestMs,
    List<Target> targets,
    long unknown,
    long unknownOldestMs,
    List<String> unknownTargets) {
  /** Interval of looks. */
  static final Duration LOOK = Duration.ofSeconds(2);

  /** Instead of an ARN, for targets that are not configured. */
  static final String UNKNOWN = "unknown";

  public DeliveryState {
    targets = List.copyOf(targets);
    unknownTargets = List.copyOf(unknownTargets);
  }

  /**
   * When the oldest event at hand of a target happened; 0: there is none.
   *
   * @param arn of a target, or {@link #UNKNOWN}
   */
  long oldestMs(String arn) {
    if (arn.equals(UNKNOWN)) {
      return unknownOldestMs;
    }
    return targets.stream()
        .filter(target -> target.arn().equals(arn))
        .mapToLong(Target::oldestMs)
        .sum();
  }

  /**
   * A target.
   *
   * @param state up, failing or down
   * @param pending events at hand that it has not got yet
   * @param oldestMs when the oldest of these happened; 0: there is none
   * @param sent to it since this process delivers
   * @param failed attempts since then
   * @param lastError empty: none yet
   * @param secondsSinceError 0: none yet
   */
  public record Target(
      String arn,
      String state,
      long pending,
      long oldestMs,
      long sent,
      long failed,
      String lastError,
      long secondsSinceError) {}
}
