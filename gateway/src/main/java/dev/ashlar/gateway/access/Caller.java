package dev.ashlar.gateway.access;

import dev.ashlar.gateway.access.policy.Requester;
import dev.ashlar.gateway.access.policy.decision.IdentityPolicies;
import dev.ashlar.gateway.access.policy.value.ConditionContext;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.principal.Principal;
import dev.ashlar.protocol.message.ObjectLock;
import dev.ashlar.protocol.message.PrincipalAnswer;
import dev.ashlar.protocol.message.PrincipalQuery;
import dev.ashlar.protocol.message.Tag;
import java.time.Instant;
import java.util.List;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The sender of a request: proven by a signature, or anonymous.
 *
 * @param accessKey of the credential that signed the request; empty: anonymous
 * @param canonicalId the canonical user id of the sender's account
 * @param principal who has signed; null: anonymous
 * @param facts that conditions of policies refer to
 * @param confirmation without which the caller may do nothing yet; null: it is confirmed
 */
public record Caller(
    String accessKey,
    String canonicalId,
    @Nullable Principal principal,
    ConditionContext facts,
    @Nullable Confirmation confirmation) {
  /** S3's canonical user id of whoever sends no signature. */
  public static final String ANONYMOUS_ID = "65a011a29cdf8ec533ec3d1ccaae921c";

  /** Makes a caller of one that was known before, in the read that its request needs anyway. */
  public interface Confirmation {
    /** Whether the principal is still as it was known. */
    PrincipalQuery query();

    /**
     * The caller as it is now.
     *
     * @throws S3Exception if it may not sign so any more
     */
    Caller confirmed(PrincipalAnswer answer) throws S3Exception;
  }

  /** A caller who has signed. */
  public static Caller of(Principal principal, ConditionContext facts) {
    return of(principal, facts, null);
  }

  /**
   * @param confirmation null: it is confirmed
   */
  public static Caller of(
      Principal principal, ConditionContext facts, @Nullable Confirmation confirmation) {
    return new Caller(
        principal.accessKey(),
        principal.account().getCanonicalId(),
        principal,
        facts,
        confirmation);
  }

  /** What a read has to answer besides; null: nothing. */
  @Nullable PrincipalQuery question() {
    return confirmation == null ? null : confirmation.query();
  }

  /**
   * @param answer to the question; null if there was none
   */
  Caller confirmed(@Nullable PrincipalAnswer answer) throws S3Exception {
    if (confirmation == null) {
      return this;
    }
    if (answer == null) {
      throw new IllegalStateException("a caller that no read has confirmed");
    }
    return confirmation.confirmed(answer);
  }

  /** A caller without a signature. */
  public static Caller anonymous(ConditionContext facts) {
    return new Caller("", ANONYMOUS_ID, null, facts, null);
  }

  public boolean isAnonymous() {
    return principal == null;
  }

  /** As policies name the caller. */
  public Requester requester() {
    return principal == null ? new Requester.Anonymous() : principal.requester();
  }

  IdentityPolicies policies() {
    return principal == null ? IdentityPolicies.NONE : principal.policies();
  }

  /** The same caller, with the tags that the request gives an object. */
  public Caller bringing(List<Tag> tags) {
    return with(TagFacts.Kind.REQUEST, tags);
  }

  /** The same caller, with the tags of the object that the request is about. */
  Caller meeting(List<Tag> tags) {
    return with(TagFacts.Kind.OBJECT, tags);
  }

  /** The same caller, with the lock that the request gives a version. */
  public Caller bringing(ObjectLock lock, Instant now) {
    return lock.equals(ObjectLock.getDefaultInstance())
        ? this
        : seeing(others -> new LockFacts(others, lock, now));
  }

  private Caller with(TagFacts.Kind kind, List<Tag> tags) {
    return tags.isEmpty() ? this : seeing(others -> new TagFacts(others, kind, tags));
  }

  /** The same caller with other facts, which it keeps when it is confirmed. */
  public Caller seeing(UnaryOperator<ConditionContext> more) {
    Confirmation before = confirmation;
    Confirmation after =
        before == null
            ? null
            : new Confirmation() {
              @Override
              public PrincipalQuery query() {
                return before.query();
              }

              @Override
              public Caller confirmed(PrincipalAnswer answer) throws S3Exception {
                return before.confirmed(answer).seeing(more);
              }
            };
    return new Caller(accessKey, canonicalId, principal, more.apply(facts), after);
  }
}
