package dev.ashlar.gateway.access;

import dev.ashlar.gateway.access.policy.value.ConditionContext;
import dev.ashlar.gateway.version.VersionId;
import dev.ashlar.protocol.message.VersionRef;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The facts about a request, with the version that a need is about: headers and documents name
 * versions, too, not only the query.
 */
record VersionFacts(ConditionContext others, VersionRef version) implements ConditionContext {
  /**
   * @param version null: the facts as they are
   */
  static ConditionContext of(ConditionContext facts, @Nullable VersionRef version) {
    return version == null ? facts : new VersionFacts(facts, version);
  }

  @Override
  public List<String> values(String key) {
    return key.equals("s3:versionid") ? List.of(VersionId.of(version)) : others.values(key);
  }
}
