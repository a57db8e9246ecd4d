package dev.ashlar.gateway.notification;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The targets that the operator has configured.
 *
 * @param byArn in the order of the operator
 */
public record EventTargets(Map<String, EventTarget> byArn) implements AutoCloseable {
  public static final EventTargets NONE = new EventTargets(Map.of());

  /** Targets with different ARNs. */
  public static EventTargets of(Collection<? extends EventTarget> targets) {
    Map<String, EventTarget> byArn = new LinkedHashMap<>();
    targets.forEach(target -> byArn.put(target.arn(), target));
    return new EventTargets(byArn);
  }

  @Override
  public void close() {
    byArn.values().forEach(EventTarget::close);
  }
}
