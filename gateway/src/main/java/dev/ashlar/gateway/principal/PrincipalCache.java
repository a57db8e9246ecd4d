package dev.ashlar.gateway.principal;

import dev.ashlar.gateway.access.policy.Policy;
import dev.ashlar.protocol.client.IdentityClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.PrincipalAnswer;
import dev.ashlar.protocol.message.PrincipalQuery;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Principals as they were last read, with their policies compiled. Each use asks metadata whether
 * the account has changed since, so a change counts from its answer on; only what is unchanged is
 * neither sent nor compiled again.
 */
final class PrincipalCache {
  private static final int ENTRIES_MAX = 10_000;

  private final IdentityClient identities;
  private final ConcurrentHashMap<PrincipalQuery, Known> known = new ConcurrentHashMap<>();

  PrincipalCache(IdentityClient identities) {
    this.identities = identities;
  }

  /** A principal, complete, and the policies that count for it. */
  record Known(PrincipalAnswer answer, List<Policy> policies) {}

  /**
   * @param query without a known revision
   */
  Known get(PrincipalQuery query) throws MetadataUnavailableException {
    Known before = known.get(query);
    long revision = before == null ? 0 : before.answer().getRevision();
    PrincipalAnswer answer =
        identities.principal(query.toBuilder().setKnownRevision(revision).build());
    if (before != null && answer.getState() == PrincipalAnswer.State.UNCHANGED) {
      return before;
    }
    Known now = new Known(answer, StoredPolicies.of(answer));
    if (answer.getState() != PrincipalAnswer.State.PRESENT || answer.getRevision() == 0) {
      known.remove(query);
    } else {
      if (known.size() >= ENTRIES_MAX) {
        known.clear();
      }
      known.put(query, now);
    }
    return now;
  }
}
