package dev.ashlar.gateway.session;

import dev.ashlar.gateway.principal.Arns;
import dev.ashlar.gateway.query.QueryError;
import dev.ashlar.gateway.query.QueryException;
import dev.ashlar.gateway.query.QueryParameters;
import dev.ashlar.gateway.session.SessionIssuer.Issued;
import dev.ashlar.gateway.session.SessionIssuer.Terms;
import dev.ashlar.gateway.xml.XmlWriter;
import dev.ashlar.protocol.client.IdentityClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.IdentityKind;
import dev.ashlar.protocol.message.IdentityRow;
import dev.ashlar.protocol.message.IdentityTag;
import dev.ashlar.protocol.message.PrincipalQuery;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * What a request says about the session of a role that it wants.
 *
 * @param roleArn of a role, which need not exist
 * @param roleName what that ARN says
 * @param name of the session
 */
record RoleSession(String roleArn, Arns.Name roleName, String name, int seconds) {
  private static final Pattern NAME = Pattern.compile("[\\w+=,.@-]+");
  private static final Pattern ANY = Pattern.compile("[!-\\x7E]+");
  private static final int SECONDS_MIN = 900;
  private static final int SECONDS_MAX = 43_200;
  private static final int SECONDS_DEFAULT = 3600;

  static RoleSession of(QueryParameters parameters) throws QueryException {
    String arn = parameters.text("RoleArn", 20, 2048, ANY);
    Arns.Name role =
        Arns.parse(arn)
            .filter(parsed -> parsed.kind() == IdentityKind.IDENTITY_ROLE)
            .orElseThrow(
                () -> new QueryException(QueryError.VALIDATION_ERROR, arn + " is invalid"));
    return new RoleSession(
        arn,
        role,
        parameters.text("RoleSessionName", 2, 64, NAME),
        parameters.number("DurationSeconds", SECONDS_MIN, SECONDS_MAX, SECONDS_DEFAULT));
  }

  Optional<IdentityRow> role(IdentityClient identities) throws MetadataUnavailableException {
    return identities
        .identity(roleName.account(), IdentityKind.IDENTITY_ROLE, roleName.name())
        .filter(role -> Arns.of(role).equals(roleArn));
  }

  void checkDuration(IdentityRow role) throws QueryException {
    if (seconds > role.getMaxSessionSeconds()) {
      throw new QueryException(
          QueryError.VALIDATION_ERROR,
          "The requested DurationSeconds exceeds the MaxSessionDuration set for this role.");
    }
  }

  /** Begins the session and writes its credentials. */
  void begin(
      SessionIssuer issuer,
      IdentityRow role,
      Instant now,
      List<String> limits,
      List<IdentityTag> tags,
      XmlWriter out)
      throws QueryException, MetadataUnavailableException {
    Issued issued =
        issuer.issue(
            role.getAccount(),
            PrincipalQuery.newBuilder()
                .setAccount(role.getAccount())
                .setIdentityId(role.getId())
                .build(),
            new Terms(name, now, Duration.ofSeconds(seconds), limits, tags));
    issued.write(out);
    out.open("AssumedRoleUser")
        .element("AssumedRoleId", role.getId() + ":" + name)
        .element("Arn", Arns.ofSession(role, name))
        .close()
        .element("PackedPolicySize", issued.packedPercent());
  }
}
