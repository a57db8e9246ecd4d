package dev.ashlar.gateway.auth;

import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;

/** What a credential scope must name; header and query differ in the error's words only. */
final class ScopeRules {
  private ScopeRules() {}

  static CredentialScope check(S3Error error, String prefix, String credential, String region)
      throws S3Exception {
    CredentialScope scope = CredentialScope.parse(credential);
    if (scope == null) {
      throw new S3Exception(
          error,
          prefix
              + "the Credential is mal-formed; expecting"
              + " \"<YOUR-AKID>/YYYYMMDD/REGION/SERVICE/aws4_request\".");
    }
    if (!scope.region().equals(region)) {
      throw new S3Exception(
              error,
              prefix + "the region '" + scope.region() + "' is wrong; expecting '" + region + "'")
          .with("Region", region);
    }
    if (!scope.service().equals(CredentialScope.SERVICE)) {
      throw new S3Exception(
          error,
          prefix
              + "incorrect service \""
              + scope.service()
              + "\". This endpoint belongs to \"s3\".");
    }
    if (!scope.terminator().equals(CredentialScope.TERMINATOR)) {
      throw new S3Exception(
          error,
          prefix
              + "incorrect terminal \""
              + scope.terminator()
              + "\". This endpoint uses \"aws4_request\".");
    }
    return scope;
  }
}
