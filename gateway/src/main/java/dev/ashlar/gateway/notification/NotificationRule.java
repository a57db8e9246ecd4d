package dev.ashlar.gateway.notification;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * Which events one target is told of.
 *
 * @param element in which it is configured; the kind of target that Amazon would have
 * @param target its ARN
 * @param events as they were named
 * @param named the events that these names mean
 * @param prefix that keys begin with
 * @param suffix that keys end with
 */
public record NotificationRule(
    Element element,
    String id,
    String target,
    List<String> events,
    Set<EventName> named,
    String prefix,
    String suffix) {
  /** An element of the configuration. */
  enum Element {
    TOPIC("TopicConfiguration", "Topic"),
    QUEUE("QueueConfiguration", "Queue"),
    FUNCTION("CloudFunctionConfiguration", "CloudFunction");

    private final String text;
    private final String targetText;

    Element(String text, String targetText) {
      this.text = text;
      this.targetText = targetText;
    }

    String text() {
      return text;
    }

    /** The child that has the ARN. */
    String targetText() {
      return targetText;
    }
  }

  public NotificationRule {
    events = List.copyOf(events);
    named = Set.copyOf(named);
  }

  /** Whether the target is told of this event of this key. */
  public boolean matches(EventName event, String key) {
    return named.contains(event) && key.startsWith(prefix) && key.endsWith(suffix);
  }

  /** Whether there may be an event that both match. */
  boolean overlaps(NotificationRule other) {
    Set<EventName> common = EnumSet.noneOf(EventName.class);
    common.addAll(named);
    common.retainAll(other.named);
    return !common.isEmpty()
        && (prefix.startsWith(other.prefix) || other.prefix.startsWith(prefix))
        && (suffix.endsWith(other.suffix) || other.suffix.endsWith(suffix));
  }
}
