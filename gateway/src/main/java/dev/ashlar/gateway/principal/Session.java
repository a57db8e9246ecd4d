package dev.ashlar.gateway.principal;

import com.google.protobuf.ByteString;
import dev.ashlar.protocol.message.IdentityTag;
import dev.ashlar.protocol.message.SessionTokenContent;
import java.time.Instant;
import java.util.List;

/**
 * A session: credentials for a while, with the rights of a principal or less.
 *
 * @param name of a role's session; empty for a session of a user or root
 * @param policies each limits the session; empty: no limit
 * @param provider of the web identity that began it; empty: none
 */
public record Session(
    String accessKey,
    String secretKey,
    String name,
    Instant issuedAt,
    Instant expiresAt,
    List<String> policies,
    List<IdentityTag> tags,
    String provider,
    String subject) {

  public Session {
    policies = List.copyOf(policies);
    tags = List.copyOf(tags);
  }

  /** Without its secret. */
  @Override
  public String toString() {
    return "Session[accessKey=" + accessKey + ", name=" + name + ", expiresAt=" + expiresAt + "]";
  }

  ByteString content() {
    return SessionTokenContent.newBuilder()
        .setAccessKey(accessKey)
        .setSecretKey(secretKey)
        .setSessionName(name)
        .setIssuedAtMs(issuedAt.toEpochMilli())
        .setExpiresAtMs(expiresAt.toEpochMilli())
        .addAllPolicies(policies)
        .addAllTags(tags)
        .setProvider(provider)
        .setSubject(subject)
        .build()
        .toByteString();
  }

  static Session of(SessionTokenContent content) {
    return new Session(
        content.getAccessKey(),
        content.getSecretKey(),
        content.getSessionName(),
        Instant.ofEpochMilli(content.getIssuedAtMs()),
        Instant.ofEpochMilli(content.getExpiresAtMs()),
        content.getPoliciesList(),
        content.getTagsList(),
        content.getProvider(),
        content.getSubject());
  }
}
