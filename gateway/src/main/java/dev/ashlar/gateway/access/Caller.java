package dev.ashlar.gateway.access;

import dev.ashlar.gateway.access.policy.value.ConditionContext;
import dev.ashlar.gateway.principal.Principal;
import dev.ashlar.protocol.message.ObjectLock;
import dev.ashlar.protocol.message.Tag;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The sender of a request, proven by a signature. Unsigned requests have no caller: the
 * authenticator refuses them.
 *
 * @param accessKey of the credential that signed the request
 * @param canonicalId the canonical user id that the access key belongs to
 * @param principal whose policies limit what the caller may do; null: the owner's credential, which
 *     nothing limits
 * @param facts that conditions of policies refer to
 */
public record Caller(
    String accessKey, String canonicalId, @Nullable Principal principal, ConditionContext facts) {

  /** A caller with the owner's credential. */
  public static Caller owner(String accessKey, String canonicalId) {
    return new Caller(accessKey, canonicalId, null, ConditionContext.EMPTY);
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
        : new Caller(accessKey, canonicalId, principal, new LockFacts(facts, lock, now));
  }

  private Caller with(TagFacts.Kind kind, List<Tag> tags) {
    return tags.isEmpty()
        ? this
        : new Caller(accessKey, canonicalId, principal, new TagFacts(facts, kind, tags));
  }
}
