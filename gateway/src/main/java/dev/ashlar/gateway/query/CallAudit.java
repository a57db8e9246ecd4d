package dev.ashlar.gateway.query;

import dev.ashlar.gateway.audit.AuditEvent;
import dev.ashlar.gateway.error.Denial;
import dev.ashlar.gateway.principal.Principal;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Tells the audit log of requests of IAM and STS. */
final class CallAudit {
  /** Names of what is asked about. Documents, tokens and secrets are not among them. */
  private static final List<String> PARAMETERS =
      List.of(
          "AccessKeyId",
          "GroupName",
          "NewGroupName",
          "NewUserName",
          "OpenIDConnectProviderArn",
          "Path",
          "PolicyArn",
          "PolicyName",
          "RoleArn",
          "RoleName",
          "RoleSessionName",
          "Status",
          "Url",
          "UserName",
          "VersionId");

  private CallAudit() {}

  static void describe(AuditEvent audit, QueryApi api, String action, QueryParameters parameters) {
    audit.operation(api.service() + ":" + action);
    for (String name : PARAMETERS) {
      parameters.optional(name).ifPresent(value -> audit.parameter(name, value));
    }
  }

  /**
   * @param caller null: the request has no signature
   */
  static void sender(AuditEvent audit, @Nullable Principal caller) {
    if (caller == null) {
      audit.sender(null, "anonymous", null);
    } else {
      audit.sender(caller.accountId(), caller.arn(), caller.accessKey());
    }
  }

  static void failed(AuditEvent audit, QueryException e) {
    Denial why = e.denial();
    audit.failed(e.error().code(), why == null ? usual(e.error()) : why);
  }

  private static @Nullable Denial usual(QueryError error) {
    return switch (error) {
      case ACCESS_DENIED -> Denial.OPERATION;
      case EXPIRED_TOKEN,
          EXPIRED_TOKEN_EXCEPTION,
          IDP_REJECTED_CLAIM,
          INVALID_CLIENT_TOKEN_ID,
          INVALID_IDENTITY_TOKEN,
          MISSING_AUTHENTICATION_TOKEN,
          SIGNATURE_DOES_NOT_MATCH ->
          Denial.AUTHENTICATION;
      default -> null;
    };
  }
}
