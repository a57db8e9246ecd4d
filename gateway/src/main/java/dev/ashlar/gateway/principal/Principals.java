package dev.ashlar.gateway.principal;

import dev.ashlar.gateway.access.policy.Policy;
import dev.ashlar.gateway.access.policy.Requester;
import dev.ashlar.gateway.access.policy.decision.IdentityPolicies;
import dev.ashlar.protocol.client.IdentityClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.AccountRow;
import dev.ashlar.protocol.message.IdentityKind;
import dev.ashlar.protocol.message.IdentityRow;
import dev.ashlar.protocol.message.PrincipalAnswer;
import dev.ashlar.protocol.message.PrincipalQuery;
import java.time.Clock;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Finds who may sign with an access key, or with one and a session token, and their secret. */
public final class Principals {
  /** Why nobody may sign so. */
  public enum Fault {
    /** There is no such access key, or it is inactive. */
    UNKNOWN_KEY,

    /** The token is altered, of another access key, or of a principal that is gone. */
    INVALID_TOKEN,
    EXPIRED_TOKEN
  }

  /** Who may sign, or why nobody may. */
  public sealed interface Found {
    /**
     * @param secretKey with which the request has to be signed
     */
    record Signer(Principal principal, String secretKey) implements Found {
      /** Without the secret. */
      @Override
      public String toString() {
        return "Signer[" + principal.arn() + "]";
      }
    }

    record Nobody(Fault fault) implements Found {}
  }

  /**
   * A signer as it was last known. It may do nothing before a read of metadata has answered the
   * query, together with what the request is about.
   */
  public final class Remembered {
    private final String accessKey;
    private final SessionTokens.@Nullable Claim claim;
    private final PrincipalQuery query;
    private final PrincipalCache.Known known;
    private final Found.Signer signer;

    private Remembered(
        String accessKey,
        SessionTokens.@Nullable Claim claim,
        PrincipalQuery query,
        PrincipalCache.Known known,
        Found.Signer signer) {
      this.accessKey = accessKey;
      this.claim = claim;
      this.query = query;
      this.known = known;
      this.signer = signer;
    }

    public Found.Signer signer() {
      return signer;
    }

    /** What has to be answered. */
    public PrincipalQuery query() {
      return PrincipalCache.asking(query, known);
    }

    /** Who may sign now. */
    public Found confirmed(PrincipalAnswer answer) throws MetadataUnavailableException {
      return answer.getState() == PrincipalAnswer.State.UNCHANGED
          ? signer
          : found(accessKey, claim, cache.now(query, known, answer));
    }
  }

  private final PrincipalCache cache;
  private final Clock clock;

  /**
   * @param seals opens the secrets of credentials
   */
  public Principals(IdentityClient identities, SecretSeals seals, Clock clock) {
    this.cache = new PrincipalCache(identities, seals);
    this.clock = clock;
  }

  /**
   * @param token null without one
   */
  public Found find(String accessKey, @Nullable String token) throws MetadataUnavailableException {
    Optional<SessionTokens.Claim> claim = claim(token);
    if (token != null && claim.isEmpty()) {
      return new Found.Nobody(Fault.INVALID_TOKEN);
    }
    return found(accessKey, claim.orElse(null), cache.get(query(accessKey, claim)));
  }

  /**
   * The same without a read, as far as it is known; empty if it is not.
   *
   * @param token null without one
   */
  public Optional<Remembered> remembered(String accessKey, @Nullable String token) {
    Optional<SessionTokens.Claim> claim = claim(token);
    if (token != null && claim.isEmpty()) {
      return Optional.empty();
    }
    PrincipalQuery query = query(accessKey, claim);
    PrincipalCache.Known known = cache.last(query);
    if (known == null || !isStored(query, known)) {
      return Optional.empty();
    }
    return found(accessKey, claim.orElse(null), known) instanceof Found.Signer signer
        ? Optional.of(new Remembered(accessKey, claim.orElse(null), query, known, signer))
        : Optional.empty();
  }

  /** A credential without an account is not known to whoever answers reads of metadata. */
  private static boolean isStored(PrincipalQuery query, PrincipalCache.Known known) {
    return query.getAccessKey().isEmpty() || !known.answer().getCredential().getAccount().isEmpty();
  }

  private static Optional<SessionTokens.Claim> claim(@Nullable String token) {
    return token == null ? Optional.empty() : SessionTokens.read(token);
  }

  private static PrincipalQuery query(String accessKey, Optional<SessionTokens.Claim> claim) {
    return claim
        .map(SessionTokens.Claim::principal)
        .orElseGet(() -> PrincipalQuery.newBuilder().setAccessKey(accessKey).build());
  }

  private Found found(
      String accessKey, SessionTokens.@Nullable Claim claim, PrincipalCache.Known known) {
    return claim == null ? byKey(accessKey, known) : bySession(accessKey, claim, known);
  }

  private Found byKey(String accessKey, PrincipalCache.Known known) {
    if (!isUsable(known.answer())) {
      return new Found.Nobody(Fault.UNKNOWN_KEY);
    }
    return new Found.Signer(principal(accessKey, known, null), known.secretKey());
  }

  private Found bySession(String accessKey, SessionTokens.Claim claim, PrincipalCache.Known known) {
    PrincipalAnswer answer = known.answer();
    Optional<Session> session =
        isUsable(answer) ? claim.open(answer.getAccount().getSessionKey()) : Optional.empty();
    if (session.isEmpty() || !session.get().accessKey().equals(accessKey)) {
      return new Found.Nobody(Fault.INVALID_TOKEN);
    }
    if (!clock.instant().isBefore(session.get().expiresAt())) {
      return new Found.Nobody(Fault.EXPIRED_TOKEN);
    }
    return new Found.Signer(principal(accessKey, known, session.get()), session.get().secretKey());
  }

  private static boolean isUsable(PrincipalAnswer answer) {
    return answer.getState() == PrincipalAnswer.State.PRESENT
        && answer.hasAccount()
        && !answer.getCredential().getInactive();
  }

  private static Principal principal(
      String accessKey, PrincipalCache.Known known, @Nullable Session session) {
    PrincipalAnswer answer = known.answer();
    AccountRow account = answer.getAccount();
    @Nullable IdentityRow identity = answer.hasIdentity() ? answer.getIdentity() : null;
    List<Policy> limits =
        session == null
            ? List.of()
            : session.policies().stream().map(StoredPolicies::parse).toList();
    return new Principal(
        accessKey,
        account,
        identity,
        session,
        requester(account, identity, session),
        new IdentityPolicies(known.policies(), limits));
  }

  private static Requester.Identity requester(
      AccountRow account, @Nullable IdentityRow identity, @Nullable Session session) {
    String canonicalId = account.getCanonicalId();
    if (identity == null) {
      return new Requester.Root(account.getId(), canonicalId);
    }
    if (identity.getKind() == IdentityKind.IDENTITY_ROLE && session != null) {
      return new Requester.RoleSession(
          account.getId(),
          canonicalId,
          Arns.ofSession(identity, session.name()),
          Arns.of(identity),
          session.name());
    }
    return new Requester.User(
        account.getId(), canonicalId, Arns.of(identity), identity.getId(), identity.getName());
  }
}
