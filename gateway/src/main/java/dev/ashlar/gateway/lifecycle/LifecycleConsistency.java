package dev.ashlar.gateway.lifecycle;

import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import java.util.List;
import java.util.stream.Stream;

/** Refuses rules whose parts contradict each other. */
final class LifecycleConsistency {
  private LifecycleConsistency() {}

  static void require(LifecycleRule rule) throws S3Exception {
    if (!rule.deletes() && !rule.moves() && rule.abortDays() == 0) {
      throw S3Exception.invalidRequest("At least one action needs to be specified in a rule");
    }
    requireFilterOfAction(rule);
    requireOneKindOfTime(rule);
    requireDistinct(rule.transitions().stream().map(each -> each.storageClass()).toList(), rule);
    requireDistinct(
        rule.noncurrentTransitions().stream().map(each -> each.storageClass()).toList(), rule);
    requireOrder(rule);
    requireNoncurrentOrder(rule);
  }

  /** Delete markers and uploads have neither tags nor sizes. */
  private static void requireFilterOfAction(LifecycleRule rule) throws S3Exception {
    LifecycleRule.Expiration expiration = rule.expiration();
    boolean isOfMarkers = expiration != null && expiration.when() == null;
    String action =
        isOfMarkers
            ? "ExpiredObjectDeleteMarker"
            : rule.abortDays() > 0 ? "AbortIncompleteMultipartUpload" : "";
    if (!action.isEmpty() && rule.filter().hasTags()) {
      throw S3Exception.invalidRequest(action + " cannot be specified with Tags.");
    }
    if (!action.isEmpty() && rule.filter().hasSizes()) {
      throw S3Exception.invalidRequest(action + " cannot be specified with Object Size.");
    }
  }

  private static Stream<When> times(LifecycleRule rule) {
    LifecycleRule.Expiration expiration = rule.expiration();
    When end = expiration == null ? null : expiration.when();
    return Stream.concat(
        rule.transitions().stream().map(LifecycleRule.Transition::when),
        end == null ? Stream.of() : Stream.of(end));
  }

  private static void requireOneKindOfTime(LifecycleRule rule) throws S3Exception {
    if (times(rule).map(Object::getClass).distinct().count() > 1) {
      throw S3Exception.invalidRequest(
          "Found mixed 'Date' and 'Days' based Expiration and Transition actions in lifecycle rule"
              + " for filter "
              + filter(rule));
    }
  }

  private static String filter(LifecycleRule rule) {
    return "'(prefix=" + rule.filter().keyPrefix() + ")'";
  }

  private static void requireDistinct(List<String> classes, LifecycleRule rule) throws S3Exception {
    if (classes.stream().distinct().count() < classes.size()) {
      throw S3Exception.invalidRequest(
          "'StorageClass' must be different for transition actions in same 'Rule' for filter "
              + filter(rule));
    }
  }

  /** A transition at or behind the expiration would never happen. */
  private static void requireOrder(LifecycleRule rule) throws S3Exception {
    LifecycleRule.Expiration expiration = rule.expiration();
    When end = expiration == null ? null : expiration.when();
    for (LifecycleRule.Transition transition : rule.transitions()) {
      if (end instanceof When.Days(int days)
          && transition.when() instanceof When.Days(int moved)
          && days <= moved) {
        throw tooLate("Days", "Expiration", "Transition", rule);
      }
      if (end instanceof When.Date(long time)
          && transition.when() instanceof When.Date(long moved)
          && time <= moved) {
        throw tooLate("Date", "Expiration", "Transition", rule);
      }
    }
  }

  private static void requireNoncurrentOrder(LifecycleRule rule) throws S3Exception {
    LifecycleRule.NoncurrentExpiration end = rule.noncurrentExpiration();
    for (LifecycleRule.NoncurrentTransition transition : rule.noncurrentTransitions()) {
      if (end != null && end.days() <= transition.days()) {
        throw tooLate(
            "NoncurrentDays", "NoncurrentVersionExpiration", "NoncurrentVersionTransition", rule);
      }
    }
  }

  private static S3Exception tooLate(String field, String end, String moved, LifecycleRule rule) {
    return new S3Exception(
        S3Error.INVALID_ARGUMENT,
        "'%s' in the %s action for filter %s must be greater than '%s' in the %s action"
            .formatted(field, end, filter(rule), field, moved));
  }
}
