package dev.ashlar.gateway.session;

import com.google.protobuf.ByteString;
import dev.ashlar.gateway.principal.Session;
import dev.ashlar.gateway.principal.SessionTokens;
import dev.ashlar.gateway.query.QueryError;
import dev.ashlar.gateway.query.QueryException;
import dev.ashlar.gateway.xml.XmlWriter;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.AccountQuery;
import dev.ashlar.protocol.message.AccountRow;
import dev.ashlar.protocol.message.AccountValue;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.IdentityTag;
import dev.ashlar.protocol.message.PrincipalQuery;
import dev.ashlar.protocol.message.PutAccount;
import dev.ashlar.protocol.message.ResultCode;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Base64;
import java.util.List;
import java.util.Optional;

/** Begins sessions: chooses their credentials and makes their tokens. */
final class SessionIssuer {
  private static final int ATTEMPTS_MAX = 16;
  private static final int KEY_RANDOM_CHARS = 16;
  private static final int SECRET_RANDOM_BYTES = 30;
  private static final String KEY_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

  private final MetadataClient metadata;
  private final SecureRandom random;

  SessionIssuer(MetadataClient metadata, SecureRandom random) {
    this.metadata = metadata;
    this.random = random;
  }

  /**
   * What limits a session.
   *
   * @param name of a role's session; empty for others
   * @param policies each limits it; empty: no limit
   */
  record Terms(
      String name,
      Instant begin,
      Duration duration,
      List<String> policies,
      List<IdentityTag> tags) {
    Instant end() {
      return begin.plus(duration).truncatedTo(ChronoUnit.SECONDS);
    }
  }

  /**
   * A session that has begun.
   *
   * @param packedPercent how much of the greatest length of a token is used
   */
  record Issued(Session session, String token, int packedPercent) {
    void write(XmlWriter out) {
      out.open("Credentials")
          .element("AccessKeyId", session.accessKey())
          .element("SecretAccessKey", session.secretKey())
          .element("SessionToken", token)
          .element("Expiration", session.expiresAt().toString())
          .close();
    }
  }

  /**
   * @param account of the principal, 12 digits
   * @param principal whose rights the session has
   * @throws QueryException PackedPolicyTooLarge
   */
  Issued issue(String account, PrincipalQuery principal, Terms terms)
      throws QueryException, MetadataUnavailableException {
    Session session =
        new Session(
            newAccessKey(),
            newSecret(),
            terms.name(),
            terms.begin(),
            terms.end(),
            terms.policies(),
            terms.tags(),
            "",
            "");
    String token =
        SessionTokens.issue(principal, session, sessionKey(account), random)
            .orElseThrow(
                () ->
                    new QueryException(
                        QueryError.PACKED_POLICY_TOO_LARGE,
                        "The session policies and tags together are too large."));
    return new Issued(session, token, token.length() * 100 / SessionTokens.CHARS_MAX);
  }

  private String newAccessKey() {
    StringBuilder key = new StringBuilder("ASIA");
    for (int i = 0; i < KEY_RANDOM_CHARS; i++) {
      key.append(KEY_LETTERS.charAt(random.nextInt(KEY_LETTERS.length())));
    }
    return key.toString();
  }

  private String newSecret() {
    byte[] bytes = new byte[SECRET_RANDOM_BYTES];
    random.nextBytes(bytes);
    return Base64.getEncoder().encodeToString(bytes);
  }

  /** The key of an account, which its first session makes. */
  private ByteString sessionKey(String account)
      throws QueryException, MetadataUnavailableException {
    for (int attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      Optional<AccountRow> row =
          metadata
              .account(AccountQuery.newBuilder().setId(account).build())
              .map(AccountValue::getAccount);
      if (row.isEmpty()) {
        throw new QueryException(
            QueryError.INVALID_CLIENT_TOKEN_ID,
            "The security token included in the request is invalid.");
      }
      if (!row.get().getSessionKey().isEmpty()) {
        return row.get().getSessionKey();
      }
      putKey(row.get());
    }
    throw new QueryException(
        QueryError.SERVICE_UNAVAILABLE, "The account is being changed. Please try again.");
  }

  private void putKey(AccountRow account) throws QueryException, MetadataUnavailableException {
    byte[] key = new byte[SessionTokens.KEY_BYTES];
    random.nextBytes(key);
    PutAccount.Builder put =
        PutAccount.newBuilder()
            .setAccount(account.toBuilder().setSessionKey(ByteString.copyFrom(key)))
            .setExpectedRevision(account.getRevision());
    CommandResult result = metadata.submit(Command.newBuilder().setPutAccount(put));
    if (result.getCode() != ResultCode.OK && result.getCode() != ResultCode.CONDITIONAL_CONFLICT) {
      throw new QueryException(
          QueryError.SERVICE_UNAVAILABLE, "No session can begin now. Please try again.");
    }
  }
}
