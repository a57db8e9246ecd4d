package dev.ashlar.gateway.auth;

import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;

/**
 * The region and service that a credential has to name.
 *
 * @param region {@link #ANY_REGION}: whatever it names
 * @param isGlobal whether us-east-1 and an empty region are served as well, in which clients sign
 *     for services without regions
 */
record ScopeRules(String region, String service, boolean isGlobal) {
  static final String ANY_REGION = "";

  private static final String CLASSIC_REGION = "us-east-1";

  /** Signing keys are kept by region before the signature is known to be right. */
  private static final int REGION_LENGTH_MAX = 64;

  static ScopeRules ofS3(String region) {
    return new ScopeRules(region, SignatureClaim.CredentialScope.SERVICE, false);
  }

  /**
   * @param error and
   * @param prefix of its message, which differ between header and query
   */
  void check(SignatureClaim.CredentialScope scope, S3Error error, String prefix)
      throws S3Exception {
    String actual = scope.region();
    boolean isAnywhere =
        (region.equals(ANY_REGION) && actual.length() <= REGION_LENGTH_MAX)
            || (isGlobal && (actual.isEmpty() || actual.equals(CLASSIC_REGION)));
    if (!actual.equals(region) && !isAnywhere) {
      String wrong = "the region '" + actual + "' is wrong; expecting '" + region + "'";
      throw new S3Exception(error, prefix + wrong).with("Region", region);
    }
    if (!scope.service().equals(service)) {
      String wrong = "incorrect service \"" + scope.service() + "\".";
      throw new S3Exception(
          error, prefix + wrong + " This endpoint belongs to \"" + service + "\".");
    }
  }
}
