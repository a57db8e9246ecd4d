package dev.ashlar.gateway.principal;

import dev.ashlar.gateway.access.policy.Policy;
import dev.ashlar.gateway.access.policy.Requester;
import dev.ashlar.gateway.access.policy.decision.IdentityPolicies;
import dev.ashlar.protocol.client.IdentityClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.AccountRow;
import dev.ashlar.protocol.message.CredentialRow;
import dev.ashlar.protocol.message.IdentityKind;
import dev.ashlar.protocol.message.IdentityRow;
import dev.ashlar.protocol.message.PrincipalAnswer;
import dev.ashlar.protocol.message.PrincipalQuery;
import java.time.Clock;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
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

  private final PrincipalCache cache;
  private final Function<CredentialRow, String> secrets;
  private final Clock clock;

  /**
   * @param secrets reads the secret of a credential
   */
  public Principals(
      IdentityClient identities, Function<CredentialRow, String> secrets, Clock clock) {
    this.cache = new PrincipalCache(identities);
    this.secrets = secrets;
    this.clock = clock;
  }

  /**
   * @param token null without one
   */
  public Found find(String accessKey, @Nullable String token) throws MetadataUnavailableException {
    return token == null ? byKey(accessKey) : bySession(accessKey, token);
  }

  private Found byKey(String accessKey) throws MetadataUnavailableException {
    PrincipalCache.Known known =
        cache.get(PrincipalQuery.newBuilder().setAccessKey(accessKey).build());
    if (!isUsable(known.answer())) {
      return new Found.Nobody(Fault.UNKNOWN_KEY);
    }
    return new Found.Signer(
        principal(accessKey, known, null), secrets.apply(known.answer().getCredential()));
  }

  private Found bySession(String accessKey, String token) throws MetadataUnavailableException {
    Optional<SessionTokens.Claim> claim = SessionTokens.read(token);
    if (claim.isEmpty()) {
      return new Found.Nobody(Fault.INVALID_TOKEN);
    }
    PrincipalCache.Known known = cache.get(claim.get().principal());
    PrincipalAnswer answer = known.answer();
    Optional<Session> session =
        isUsable(answer) ? claim.get().open(answer.getAccount().getSessionKey()) : Optional.empty();
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
