package dev.ashlar.gateway.access.policy;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.gateway.access.policy.document.MalformedPolicyException;
import dev.ashlar.gateway.access.policy.value.ConditionContext;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Documents that are made to crash, hang or fill the memory of a parser or an evaluator. */
class HostilePoliciesTest {
  private static final String LONG_KEY = "a".repeat(1_024);

  private static String allow(String resource) {
    return "{'Effect': 'Allow', 'Principal': '*', 'Action': 's3:*', 'Resource': " + resource + "}";
  }

  private static MalformedPolicyException refused(String document) {
    return assertThrows(
        MalformedPolicyException.class,
        () -> Policy.parse(Documents.json(document), PolicyKind.bucket("bucket")));
  }

  @ParameterizedTest
  @ValueSource(strings = {"[", "{'Statement':", "{'Statement':[", "{'Statement':{'Condition':"})
  void deepNestingIsRefused(String opening) {
    refused(opening.repeat(20_000 / opening.length()));
    refused("{'Statement': " + "[".repeat(9_000) + "]".repeat(9_000) + "}");
  }

  @Test
  void fullSizePatternsAreEvaluated() {
    for (String unit : new String[] {"*a", "*a?", "?*", "*", "*ab*", "a*b"}) {
      String pattern = unit.repeat(20_000 / unit.length());
      Policy policy = Documents.bucketPolicy(allow("'arn:aws:s3:::bucket/" + pattern + "'"));
      for (int i = 0; i < 1_000; i++) {
        policy.evaluate(Documents.getObject(Documents.ALICE, LONG_KEY));
      }
    }
  }

  @Test
  void manyPatternsAreEvaluated() {
    String patterns =
        IntStream.range(0, 700)
            .mapToObj(i -> "'arn:aws:s3:::*a*b*" + i + "'")
            .collect(Collectors.joining(",", "[", "]"));
    Policy policy = Documents.bucketPolicy(allow(patterns));
    for (int i = 0; i < 200; i++) {
      policy.evaluate(Documents.getObject(Documents.ALICE, LONG_KEY));
    }
  }

  /** A thousand variables of 8 KB each would be 8 MB at each request. */
  @Test
  void manyLongVariablesAreNotExpanded() {
    String value = "${aws:useragent}".repeat(1_000);
    Policy policy =
        Documents.bucketPolicy(
            allow("'*'")
                .replace(
                    "}", ", 'Condition': {'StringEquals': {'aws:referer': '" + value + "'}}}"));
    ConditionContext context =
        key -> List.of(key.equals("aws:useragent") ? "u".repeat(8_000) : "r".repeat(8_000));
    for (int i = 0; i < 10_000; i++) {
      policy.evaluate(
          new AccessRequest(Documents.ALICE, "s3:GetObject", "arn:aws:s3:::bucket/x", context));
    }
  }

  /** An error names the place of each value: its text must not be kept for each of them. */
  @Test
  void longNamesWithManyValuesNeedLittleMemory() {
    String values = "1,".repeat(4_500) + "1";
    String document =
        allow("'*'")
            .replace(
                "}",
                ", 'Condition': {'StringEquals': {'a:"
                    + "k".repeat(9_000)
                    + "': ["
                    + values
                    + "]}}}");
    for (int i = 0; i < 50; i++) {
      Documents.bucketPolicy(document);
    }
    assertTrue(refused("{'" + "n".repeat(19_000) + "': 1}").reason().length() < 300);
  }

  @Test
  void hugeNumbersAreRefused() {
    for (String number : List.of("1e999999999", "9".repeat(900), "9".repeat(5_000), "1E-99999")) {
      refused(
          Documents.document(
              allow("'*'")
                  .replace("}", ", 'Condition': {'NumericEquals': {'a:b': " + number + "}}}")));
    }
  }

  @Test
  void malformedUnicodeIsRefused() {
    for (String half : List.of("\\ud800", "\\udc00", "\\udc00\\ud800", "\\ud83d x")) {
      refused(Documents.document(allow("'arn:aws:s3:::bucket/" + half + "'")));
      refused("{'" + half + "': 1}");
    }
    Documents.bucketPolicy(allow("'arn:aws:s3:::bucket/\\ud83d\\ude00'"));
    refused("\ufeff" + Documents.document(allow("'*'")));
    refused(Documents.document(allow("'arn:aws:s3:::bucket/\\u12'")));
    refused(Documents.document(allow("'arn:aws:s3:::bucket/\\x'")));
    refused(Documents.document(allow("'arn:aws:s3:::bucket/\n'")));
  }

  @Test
  void patternThatCannotBeSearchedCheaplyIsRefused() {
    String distinct =
        IntStream.range(0, 3_000)
            .mapToObj(i -> new String(Character.toChars(0x4e00 + i)))
            .collect(Collectors.joining());
    refused(Documents.document(allow("'arn:aws:s3:::bucket/*" + distinct + "*'")));
  }

  /** Whatever the damage, a document is either refused or can be asked. */
  @Test
  void damagedDocumentsAreRefusedOrWork() {
    String document =
        Documents.json(
            Documents.document(
                "{'Sid': 'a', 'Effect': 'Allow', 'Principal': {'AWS': ['111111111111', '*'],"
                    + " 'CanonicalUser': 'abc'}, 'NotAction': ['s3:Get*', 's3:PutObject'],"
                    + " 'Resource': ['arn:aws:s3:::bucket/${aws:username, `x`}/*?', '*'],"
                    + " 'Condition': {'StringLike': {'aws:a': ['x*', 1, true]}, 'IpAddress':"
                    + " {'aws:b': ['10.0.0.0/8', '::1']}, 'DateLessThan': {'aws:c': '2026-01-01'},"
                    + " 'ForAnyValue:ArnLikeIfExists': {'aws:d': 'arn:aws:s3:::*'},"
                    + " 'NumericLessThan': {'aws:e': -1.5e3}, 'Null': {'aws:f': true}}}"));
    SeededRuns.repeat(20, random -> damage(document, random));
  }

  private static void damage(String document, Random random) {
    byte[] original = document.getBytes(StandardCharsets.UTF_8);
    String interesting = "{}[]\",:'\\*?$0eE+-./u \u0000\u007f";
    for (int i = 0; i < 2_000; i++) {
      byte[] damaged = original.clone();
      for (int change = random.nextInt(4); change >= 0; change--) {
        damaged[random.nextInt(damaged.length)] =
            random.nextInt(4) == 0
                ? (byte) random.nextInt(256)
                : (byte) interesting.charAt(random.nextInt(interesting.length()));
      }
      try {
        Policy policy = Policy.parse(damaged, PolicyKind.bucket("bucket"));
        policy.evaluate(
            new AccessRequest(
                Documents.ALICE,
                "s3:DeleteObject",
                "arn:aws:s3:::bucket/alice/x",
                key -> List.of(key, "10.1.1.1", "2025", "")));
      } catch (MalformedPolicyException e) {
        assertTrue(e.reason().length() < 600, e.reason());
      }
    }
  }
}
