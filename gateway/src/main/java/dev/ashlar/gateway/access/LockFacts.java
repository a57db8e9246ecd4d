package dev.ashlar.gateway.access;

import dev.ashlar.gateway.access.policy.value.ConditionContext;
import dev.ashlar.protocol.message.ObjectLock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/** The facts about a request, and the lock that it gives a version. */
record LockFacts(ConditionContext others, ObjectLock lock, Instant now)
    implements ConditionContext {
  private static final String PREFIX = "s3:object-lock-";

  @Override
  public List<String> values(String key) {
    if (!key.startsWith(PREFIX)) {
      return others.values(key);
    }
    boolean isRetained = lock.getMode() != ObjectLock.Mode.NONE;
    return switch (key.substring(PREFIX.length())) {
      case "mode" -> isRetained ? List.of(lock.getMode().name()) : List.of();
      case "retain-until-date" -> isRetained ? List.of(until().toString()) : List.of();
      case "remaining-retention-days" ->
          isRetained ? List.of(Long.toString(remainingDays())) : List.of();
      case "legal-hold" ->
          lock.getLegalHoldTold() ? List.of(lock.getLegalHold() ? "ON" : "OFF") : List.of();
      default -> List.of();
    };
  }

  private Instant until() {
    return Instant.ofEpochMilli(lock.getRetainUntilMs());
  }

  /** A day that has begun counts, so that a request for some days asks for as many on its way. */
  private long remainingDays() {
    Duration left = Duration.between(now, until());
    return Math.ceilDiv(left.toMillis(), Duration.ofDays(1).toMillis());
  }
}
