package dev.ashlar.gateway.access.policy;

import dev.ashlar.gateway.access.policy.Principals.Match;
import dev.ashlar.gateway.access.policy.condition.Condition;
import dev.ashlar.gateway.access.policy.condition.FixedKeys;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * @param principals null in policies of identities, which are about whom they are attached to
 * @param resources null in trust policies, which are about the role they belong to
 */
record Statement(
    boolean isAllowing,
    @Nullable Principals principals,
    Actions actions,
    @Nullable Resources resources,
    List<Condition> conditions) {

  Match match(AccessRequest request) {
    Match match = principals == null ? Match.CALLER : principals.match(request.requester());
    if (match == Match.NONE
        || !actions.covers(request)
        || (resources != null && !resources.covers(request.resource(), request.values()))) {
      return Match.NONE;
    }
    for (Condition condition : conditions) {
      if (!condition.holds(request.values())) {
        return Match.NONE;
      }
    }
    return match;
  }

  /** Whether this allows something to anybody in the sense of S3's block of public access. */
  boolean isPublic() {
    return isAllowing
        && principals != null
        && principals.isWildcard()
        && conditions.stream().noneMatch(FixedKeys::isFixing);
  }
}
