package dev.ashlar.gateway.lifecycle;

import dev.ashlar.protocol.message.Tag;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The rules of a bucket.
 *
 * @param smallObjectsStay whether rules without sizes leave objects below 128 KiB in their storage
 *     class
 */
public record LifecycleRules(List<LifecycleRule> rules, boolean smallObjectsStay) {
  public LifecycleRules {
    rules = List.copyOf(rules);
  }

  /** What will happen, and by which rule. */
  public record Due(long timeMs, String ruleId) {}

  /**
   * When an object that is the present version expires; empty: never.
   *
   * @param writtenMs its Last-Modified
   */
  public Optional<Due> expiration(
      String key, long size, List<Tag> tags, long writtenMs, LifecycleCalendar calendar) {
    Due first = null;
    for (LifecycleRule rule : rules) {
      LifecycleRule.Expiration expiration = rule.expiration();
      When when = expiration == null ? null : expiration.when();
      if (when != null
          && rule.isEnabled()
          && rule.filter().matchesKey(key)
          && rule.filter().matchesSize(size)
          && rule.filter().matchesTags(tags)) {
        first = earlier(first, new Due(when.dueMs(writtenMs, calendar), rule.id()));
      }
    }
    return Optional.ofNullable(first);
  }

  /** When an incomplete upload is aborted; empty: never. */
  public Optional<Due> abort(String key, long initiatedMs, LifecycleCalendar calendar) {
    Due first = null;
    for (LifecycleRule rule : rules) {
      if (rule.abortDays() > 0 && rule.isEnabled() && rule.filter().matchesKey(key)) {
        first = earlier(first, new Due(calendar.dueMs(initiatedMs, rule.abortDays()), rule.id()));
      }
    }
    return Optional.ofNullable(first);
  }

  private static Due earlier(@Nullable Due a, Due b) {
    return a == null || b.timeMs() < a.timeMs() ? b : a;
  }

  /** The enabled rules that delete versions. */
  public LifecycleRules deleting() {
    return only(enabled().filter(LifecycleRule::deletes));
  }

  /** The enabled rules that move versions. */
  public LifecycleRules moving() {
    return only(enabled().filter(LifecycleRule::moves));
  }

  /** The enabled rules that abort uploads. */
  public LifecycleRules aborting() {
    return only(enabled().filter(rule -> rule.abortDays() > 0));
  }

  private Stream<LifecycleRule> enabled() {
    return rules.stream().filter(LifecycleRule::isEnabled);
  }

  private LifecycleRules only(Stream<LifecycleRule> some) {
    return new LifecycleRules(some.toList(), smallObjectsStay);
  }

  /**
   * The prefixes of the keys that the rules are about, in the order of their UTF-8 bytes. None of
   * them begins with another one.
   */
  public List<String> prefixes() {
    List<String> sorted =
        rules.stream()
            .map(rule -> rule.filter().keyPrefix())
            .distinct()
            .sorted((a, b) -> Arrays.compareUnsigned(utf8(a), utf8(b)))
            .toList();
    List<String> prefixes = new ArrayList<>();
    for (String prefix : sorted) {
      // What begins with another one comes directly behind it.
      if (prefixes.isEmpty() || !prefix.startsWith(prefixes.getLast())) {
        prefixes.add(prefix);
      }
    }
    return prefixes;
  }

  /** The enabled rules that may be about keys with this prefix. */
  public LifecycleRules within(String prefix) {
    return only(
        enabled()
            .filter(
                rule -> {
                  String own = rule.filter().keyPrefix();
                  return own.startsWith(prefix) || prefix.startsWith(own);
                }));
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
