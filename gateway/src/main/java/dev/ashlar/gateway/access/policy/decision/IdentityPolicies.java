package dev.ashlar.gateway.access.policy.decision;

import dev.ashlar.gateway.access.policy.AccessRequest;
import dev.ashlar.gateway.access.policy.Policy;
import dev.ashlar.gateway.access.policy.Requester;
import dev.ashlar.gateway.access.policy.Verdict;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The policies on the side of a caller.
 *
 * @param attached those of the user and its groups, or of the role
 * @param session those that limit a session; empty if it is not limited. What one of them allows is
 *     inside the limit
 */
public record IdentityPolicies(List<Policy> attached, List<Policy> session) {
  public static final IdentityPolicies NONE = new IdentityPolicies(List.of(), List.of());

  public IdentityPolicies {
    attached = List.copyOf(attached);
    session = List.copyOf(session);
  }

  /**
   * What this side says about a request: whether it is denied, allowed, and inside the session.
   *
   * @param denial null: it is not denied
   */
  record Answer(@Nullable Decision denial, boolean isAllowed, boolean isInsideSession) {}

  Answer evaluate(AccessRequest request) {
    Verdict own = combine(attached, request);
    Verdict limit = session.isEmpty() ? Verdict.ALLOW : combine(session, request);
    return new Answer(
        denial(own, limit),
        own == Verdict.ALLOW || request.requester() instanceof Requester.Root,
        limit == Verdict.ALLOW);
  }

  private static @Nullable Decision denial(Verdict own, Verdict limit) {
    if (own == Verdict.DENY) {
      return Decision.IDENTITY_DENY;
    }
    return limit == Verdict.DENY ? Decision.SESSION_DENY : null;
  }

  private static Verdict combine(List<Policy> policies, AccessRequest request) {
    Verdict combined = Verdict.NO_MATCH;
    for (Policy policy : policies) {
      Verdict verdict = policy.evaluate(request);
      if (verdict == Verdict.DENY) {
        return Verdict.DENY;
      }
      combined = verdict == Verdict.ALLOW ? Verdict.ALLOW : combined;
    }
    return combined;
  }
}
