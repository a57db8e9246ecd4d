package dev.ashlar.gateway.access;

import dev.ashlar.gateway.access.policy.value.ConditionContext;
import dev.ashlar.protocol.message.Tag;
import java.util.List;

/** The facts about a request, and the tags that it brings, or of the object that it is about. */
record TagFacts(ConditionContext others, Kind kind, List<Tag> tags) implements ConditionContext {
  /** Whose tags they are. */
  enum Kind {
    REQUEST("s3:requestobjecttag/"),
    OBJECT("s3:existingobjecttag/");

    private final String prefix;

    Kind(String prefix) {
      this.prefix = prefix;
    }
  }

  private static final String REQUEST_KEYS = "s3:requestobjecttagkeys";

  @Override
  public List<String> values(String key) {
    if (key.startsWith(kind.prefix)) {
      // Names of condition keys do not differ in case.
      String name = key.substring(kind.prefix.length());
      return tags.stream()
          .filter(tag -> tag.getKey().equalsIgnoreCase(name))
          .map(Tag::getValue)
          .toList();
    }
    if (kind == Kind.REQUEST && key.equals(REQUEST_KEYS)) {
      return tags.stream().map(Tag::getKey).toList();
    }
    return others.values(key);
  }
}
