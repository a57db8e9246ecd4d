package dev.ashlar.gateway.auth;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.ashlar.gateway.auth.SignatureClaim.CredentialScope;
import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ScopeRulesTest {
  private static void check(ScopeRules rules, String region, String service) throws S3Exception {
    CredentialScope scope =
        new CredentialScope("access", "20261127", region, service, CredentialScope.TERMINATOR);
    rules.check(scope, S3Error.ACCESS_DENIED, "");
  }

  @ParameterizedTest
  @CsvSource({"eu-1, true", "us-east-1, false", "'', false", "EU-1, false"})
  void theRegionHasToBeTheOneThatIsServed(String region, boolean isServed) {
    ScopeRules one = ScopeRules.ofS3("eu-1");
    if (isServed) {
      assertDoesNotThrow(() -> check(one, region, "s3"));
    } else {
      assertThrows(S3Exception.class, () -> check(one, region, "s3"));
    }
    assertDoesNotThrow(() -> check(ScopeRules.ofS3(ScopeRules.ANY_REGION), region, "s3"));
  }

  @ParameterizedTest
  @CsvSource({"eu-1, sts", "us-east-1, S3"})
  void theServiceHasToBeRightInAnyRegion(String region, String service) {
    ScopeRules any = ScopeRules.ofS3(ScopeRules.ANY_REGION);
    assertThrows(S3Exception.class, () -> check(any, region, service));
  }
}
