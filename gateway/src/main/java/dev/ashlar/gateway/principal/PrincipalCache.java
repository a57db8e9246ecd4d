package dev.ashlar.gateway.principal;

import dev.ashlar.gateway.access.policy.Policy;
import dev.ashlar.gateway.cache.BoundedCache;
import dev.ashlar.protocol.client.IdentityClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.PrincipalAnswer;
import dev.ashlar.protocol.message.PrincipalQuery;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Principals as they were last read, with their policies compiled. Each use asks metadata whether
 * the account has changed since, so a change counts from its answer on; only what is unchanged is
 * neither sent nor compiled again.
 */
final class PrincipalCache {
  private static final int ENTRIES_MAX = 10_000;

  /** Compiled, policies take some ten times the memory of their text. */
  private static final long ANSWER_BYTES_MAX = 8 << 20;

  private final IdentityClient identities;
  private final SecretSeals seals;
  private final BoundedCache<PrincipalQuery, Known> known =
      new BoundedCache<>(ENTRIES_MAX, ANSWER_BYTES_MAX);

  PrincipalCache(IdentityClient identities, SecretSeals seals) {
    this.identities = identities;
    this.seals = seals;
  }

  /**
   * A principal, complete, and the policies that count for it.
   *
   * @param secretKey of the access key, if one was asked for
   */
  record Known(PrincipalAnswer answer, List<Policy> policies, String secretKey) {
    /** Without the secret. */
    @Override
    public String toString() {
      return "Known[" + answer.getAccount().getId() + "]";
    }
  }

  /**
   * @param query without a known revision
   */
  Known get(PrincipalQuery query) throws MetadataUnavailableException {
    Known before = known.get(query);
    return now(query, before, identities.principal(asking(query, before)));
  }

  /** As it was last read; null if it was not. It counts only once a read has confirmed it. */
  @Nullable Known last(PrincipalQuery query) {
    return known.get(query);
  }

  /** The query that asks whether the principal is still as it was. */
  static PrincipalQuery asking(PrincipalQuery query, @Nullable Known before) {
    return before == null
        ? query
        : query.toBuilder().setKnownRevision(before.answer().getRevision()).build();
  }

  /**
   * @param before with which the query was made that is answered
   */
  Known now(PrincipalQuery query, @Nullable Known before, PrincipalAnswer answer)
      throws MetadataUnavailableException {
    if (before != null && answer.getState() == PrincipalAnswer.State.UNCHANGED) {
      return before;
    }
    Known now = new Known(answer, StoredPolicies.of(answer), seals.open(answer.getCredential()));
    if (answer.getState() != PrincipalAnswer.State.PRESENT || answer.getRevision() == 0) {
      known.remove(query);
    } else {
      known.put(query, now, answer.getSerializedSize());
    }
    return now;
  }
}
