package dev.ashlar.gateway.access.policy;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvFileSource;

/**
 * A table of conditions. The values of the request are separated by |; "absent" means that the
 * request does not have the key, "empty" one empty text.
 */
class ConditionsTest {
  private static final String KEY = "aws:Key";

  @ParameterizedTest
  @CsvFileSource(resources = "conditions.csv", delimiter = ';', numLinesToSkip = 1)
  void holds(String operator, String expectedValues, String actualValues, boolean isExpected) {
    Policy policy =
        Documents.identityPolicy(
            "{'Effect': 'Allow', 'Action': '*', 'Resource': '*', 'Condition': {'%s': {'%s': %s}}}"
                .formatted(operator, KEY, expectedValues));
    AccessRequest request =
        new AccessRequest(
            Documents.ALICE,
            "s3:GetObject",
            "arn:aws:s3:::bucket/key",
            Documents.context(
                Map.of(
                    KEY,
                    actual(actualValues),
                    "aws:username",
                    List.of("alice"),
                    "aws:wild",
                    List.of("*"),
                    "aws:PrincipalArn",
                    List.of(Documents.ALICE.arn()),
                    "aws:many",
                    List.of("a", "b"))));
    assertEquals(isExpected ? Verdict.ALLOW : Verdict.NO_MATCH, policy.evaluate(request));
  }

  private static List<String> actual(String values) {
    return switch (values) {
      case "absent" -> List.of();
      case "empty" -> List.of("");
      default -> Arrays.asList(values.split("\\|", -1));
    };
  }
}
