package dev.ashlar.gateway.access.policy;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.gateway.access.policy.document.MalformedPolicyException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class MalformedPolicyTest {
  private static final String STATEMENT =
      "{'Effect': 'Allow', 'Principal': '*', 'Action': 's3:GetObject',"
          + " 'Resource': 'arn:aws:s3:::bucket/*'}";

  private static MalformedPolicyException refused(String document, PolicyKind kind) {
    return assertThrows(
        MalformedPolicyException.class,
        () -> Policy.parse(Documents.json(document), kind),
        document);
  }

  /** A statement that is right but for one member, which is replaced or added. */
  private static String with(String name, String value) {
    Map<String, String> members = new LinkedHashMap<>();
    members.put("Effect", "'Allow'");
    members.put("Principal", "'*'");
    members.put("Action", "'s3:GetObject'");
    members.put("Resource", "'arn:aws:s3:::bucket/*'");
    members.put(name, value);
    return Documents.document(
        members.entrySet().stream()
            .map(member -> "'" + member.getKey() + "': " + member.getValue())
            .collect(Collectors.joining(", ", "{", "}")));
  }

  static Stream<Arguments> malformedBucketPolicies() {
    String where = "Statement[0]";
    return Stream.of(
        Arguments.of("", "document: is empty"),
        Arguments.of("   ", "document: is empty"),
        Arguments.of("[]", "document: has to be an object"),
        Arguments.of("'text'", "document: has to be an object"),
        Arguments.of("null", "document: must not be null"),
        Arguments.of("{}", "document: has no Statement"),
        Arguments.of("{'Statement': []}", "Statement: must not be an empty list"),
        Arguments.of("{'Statement': 'text'}", "Statement: has to be an object"),
        Arguments.of("{'Statement': [[]]}", where + ": has to be an object"),
        Arguments.of("{'Statement': {}}", "Statement: has no Effect"),
        Arguments.of("{'Statement': " + STATEMENT, "not valid JSON"),
        Arguments.of("{'Statement': " + STATEMENT + "} x", "not valid JSON"),
        Arguments.of("{'Statement': " + STATEMENT + "} {}", "has something after its end"),
        Arguments.of("{'Statement': " + STATEMENT + ",}", "not valid JSON"),
        Arguments.of("{/* */'Statement': " + STATEMENT + "}", "not valid JSON"),
        Arguments.of("{'Id': 'a', 'Id': 'b', 'Statement': " + STATEMENT + "}", "Duplicate"),
        Arguments.of("{'Version': '2012-10-18', 'Statement': " + STATEMENT + "}", "Version: "),
        Arguments.of("{'Version': 20121017, 'Statement': " + STATEMENT + "}", "Version: "),
        Arguments.of("{'version': '2012-10-17', 'Statement': " + STATEMENT + "}", "'version'"),
        Arguments.of("{'Id': 1, 'Statement': " + STATEMENT + "}", "Id: has to be a string"),
        Arguments.of(with("Effect", "'allow'"), where + ".Effect: 'allow' is neither"),
        Arguments.of(with("Effect", "true"), where + ".Effect: has to be a string"),
        Arguments.of(with("Effect", "['Allow']"), where + ".Effect: has to be a string"),
        Arguments.of(with("Sid", "7"), where + ".Sid: has to be a string"),
        Arguments.of(with("Unknown", "'x'"), where + ": has an unknown element 'Unknown'"),
        Arguments.of(with("NotAction", "'s3:GetObject'"), "has both Action and NotAction"),
        Arguments.of(with("NotResource", "'*'"), "has both Resource and NotResource"),
        Arguments.of(with("NotPrincipal", "'*'"), "has both Principal and NotPrincipal"),
        Arguments.of(with("Action", "'s3:GetObjekt'"), where + ".Action: 's3:GetObjekt' is not"),
        Arguments.of(with("Action", "'s3:Nothing*'"), "is not an action of s3"),
        Arguments.of(with("Action", "'GetObject'"), "is not an action such as"),
        Arguments.of(with("Action", "'s3:'"), "is not an action such as"),
        Arguments.of(with("Action", "'s*:GetObject'"), "is not an action such as"),
        Arguments.of(with("Action", "'s3:Get:Object'"), "is not an action such as"),
        Arguments.of(with("Action", "'iam:GetUser'"), "service that this policy cannot be about"),
        Arguments.of(with("Action", "''"), "is not an action such as"),
        Arguments.of(with("Action", "[]"), where + ".Action: must not be an empty list"),
        Arguments.of(
            with("Action", "[['s3:GetObject']]"), where + ".Action[0]: has to be a string"),
        Arguments.of(with("Action", "['s3:*', 1]"), where + ".Action[1]: has to be a string"),
        Arguments.of(with("Action", "null"), where + ".Action: must not be null"),
        Arguments.of(with("Resource", "'arn:aws:s3:::other/*'"), "is neither this bucket nor"),
        Arguments.of(with("Resource", "'arn:aws:s3:::bucket2'"), "is neither this bucket nor"),
        Arguments.of(with("Resource", "'arn:aws:s3:::bucke'"), "is neither this bucket nor"),
        Arguments.of(with("Resource", "'arn:aws:s3:::BUCKET/*'"), "is neither this bucket nor"),
        Arguments.of(with("Resource", "'arn:aws:s3:::${aws:username}'"), "neither this bucket"),
        Arguments.of(with("Resource", "'arn:aws:s3:us-east-1::bucket'"), "region or an account"),
        Arguments.of(with("Resource", "'arn:aws:s3::111111111111:bucket'"), "region or an account"),
        Arguments.of(with("Resource", "'arn:aws-cn:s3:::bucket'"), "partition aws"),
        Arguments.of(with("Resource", "'arn:aws:s3:::'"), "partition aws"),
        Arguments.of(with("Resource", "'arn:aws:s3::bucket'"), "partition aws"),
        Arguments.of(with("Resource", "'bucket/*'"), "partition aws"),
        Arguments.of(with("Resource", "'arn:aws:iam::111111111111:user/a'"), "neither this bucket"),
        Arguments.of(with("Resource", "''"), "partition aws"),
        Arguments.of(with("Resource", "['*', []]"), where + ".Resource[1]: has to be a string"),
        Arguments.of(with("Resource", "'arn:aws:s3:::bucket/${aws:username'"), "without its }"),
        Arguments.of(with("Resource", "'arn:aws:s3:::bucket/${}'"), "name of a condition key"),
        Arguments.of(with("Resource", "'arn:aws:s3:::bucket/${user}'"), "name of a condition key"),
        Arguments.of(with("Resource", "'arn:aws:s3:::bucket/${a:b, c}'"), "without its '"),
        Arguments.of(with("Resource", "'arn:aws:s3:::bucket/${a:b, `c}'"), "does not end"),
        Arguments.of(with("Principal", "'alice'"), where + ".Principal: 'alice' is not"),
        Arguments.of(with("Principal", "'arn:aws:iam::111111111111:root'"), "is not a principal"),
        Arguments.of(with("Principal", "['*']"), where + ".Principal: has to be an object"),
        Arguments.of(with("Principal", "{}"), where + ".Principal: must not be empty"),
        Arguments.of(with("Principal", "{'AWS': []}"), ".Principal.AWS: must not be an empty list"),
        Arguments.of(with("Principal", "{'AWS': {}}"), ".Principal.AWS: has to be a string"),
        Arguments.of(with("Principal", "{'aws': '*'}"), "unknown kind of principal 'aws'"),
        Arguments.of(with("Principal", "{'AWS': '1234'}"), "'1234' is neither"),
        Arguments.of(with("Principal", "{'AWS': 111111111111}"), "has to be a string"),
        Arguments.of(with("Principal", "{'AWS': '111111111111:root'}"), "is neither"),
        Arguments.of(with("Principal", "{'AWS': 'arn:aws:iam::111111111111'}"), "is neither"),
        Arguments.of(with("Principal", "{'AWS': 'arn:aws:iam::1:root'}"), "is neither"),
        Arguments.of(with("Principal", "{'AWS': 'arn:aws:iam::111111111111:user/*'}"), "neither"),
        Arguments.of(with("Principal", "{'AWS': 'arn:aws:iam::111111111111:user/'}"), "neither"),
        Arguments.of(with("Principal", "{'AWS': 'arn:aws:iam::111111111111:group/g'}"), "neither"),
        Arguments.of(with("Principal", "{'AWS': 'arn:aws:iam::*:user/a'}"), "neither"),
        Arguments.of(
            with("Principal", "{'AWS': 'arn:aws:sts::111111111111:assumed-role/r'}"), "neither"),
        Arguments.of(with("Principal", "{'CanonicalUser': '*'}"), "is no canonical id"),
        Arguments.of(with("Principal", "{'Service': '*'}"), "is no name of a service"),
        Arguments.of(with("Principal", "{'Federated': 'example.com'}"), "in trust policies only"),
        Arguments.of(with("Condition", "[]"), where + ".Condition: has to be an object"),
        Arguments.of(with("Condition", "{'StringIs': {'a:b': 'c'}}"), "operator 'StringIs'"),
        Arguments.of(with("Condition", "{'stringequals': {'a:b': 'c'}}"), "'stringequals'"),
        Arguments.of(with("Condition", "{'NullIfExists': {'a:b': true}}"), "'NullIfExists'"),
        Arguments.of(with("Condition", "{'ForAnyValue:Null': {'a:b': true}}"), "ForAnyValue:Null"),
        Arguments.of(with("Condition", "{'ForSome:Bool': {'a:b': true}}"), "'ForSome:Bool'"),
        Arguments.of(with("Condition", "{'StringEquals': {}}"), "StringEquals: must not be empty"),
        Arguments.of(with("Condition", "{'StringEquals': 'a'}"), "StringEquals: has to be an obj"),
        Arguments.of(with("Condition", "{'StringEquals': {'key': 'c'}}"), "is not a condition key"),
        Arguments.of(with("Condition", "{'StringEquals': {'a:b': []}}"), "an empty list"),
        Arguments.of(with("Condition", "{'StringEquals': {'a:b': {}}}"), "a single value"),
        Arguments.of(with("Condition", "{'StringEquals': {'a:b': [['c']]}}"), "a single value"),
        Arguments.of(with("Condition", "{'StringEquals': {'a:b': 1, 'A:B': 2}}"), "twice"),
        Arguments.of(with("Condition", "{'StringEquals': {'a:b': 1, 'a:b': 2}}"), "Duplicate"),
        Arguments.of(with("Condition", "{'NumericEquals': {'a:b': 'ten'}}"), "is not a number"),
        Arguments.of(with("Condition", "{'NumericEquals': {'a:b': 1e999}}"), "is not a number"),
        Arguments.of(with("Condition", "{'NumericEquals': {'a:b': true}}"), "is not a number"),
        Arguments.of(with("Condition", "{'DateEquals': {'a:b': 'soon'}}"), "is not a date"),
        Arguments.of(with("Condition", "{'DateEquals': {'a:b': '2026-02-30'}}"), "is not a date"),
        Arguments.of(
            with("Condition", "{'DateEquals': {'a:b': '2026-02-01T10:00'}}"), "not a date"),
        Arguments.of(with("Condition", "{'Bool': {'a:b': 'yes'}}"), "neither true nor false"),
        Arguments.of(with("Condition", "{'Bool': {'a:b': '${c:d}'}}"), "neither true nor false"),
        Arguments.of(with("Condition", "{'Null': {'a:b': 1}}"), "neither true nor false"),
        Arguments.of(with("Condition", "{'BinaryEquals': {'a:b': '?'}}"), "is not Base64"),
        Arguments.of(with("Condition", "{'IpAddress': {'a:b': '10.0.0.0/33'}}"), "CIDR"),
        Arguments.of(with("Condition", "{'IpAddress': {'a:b': '10.0.0/8'}}"), "CIDR"),
        Arguments.of(with("Condition", "{'IpAddress': {'a:b': '10.0.0.256'}}"), "CIDR"),
        Arguments.of(with("Condition", "{'IpAddress': {'a:b': '10.0.0.0/'}}"), "CIDR"),
        Arguments.of(with("Condition", "{'IpAddress': {'a:b': '10.0.0.0/-1'}}"), "CIDR"),
        Arguments.of(with("Condition", "{'IpAddress': {'a:b': '::/129'}}"), "CIDR"),
        Arguments.of(with("Condition", "{'IpAddress': {'a:b': '1:2:3:4:5:6:7'}}"), "CIDR"),
        Arguments.of(with("Condition", "{'IpAddress': {'a:b': '1::2::3'}}"), "CIDR"),
        Arguments.of(with("Condition", "{'IpAddress': {'a:b': '1:2:3:4:5:6:7:8::'}}"), "CIDR"),
        Arguments.of(with("Condition", "{'IpAddress': {'a:b': 'fe80::1%eth0'}}"), "CIDR"),
        Arguments.of(with("Condition", "{'IpAddress': {'a:b': ''}}"), "CIDR"),
        Arguments.of(with("Condition", "{'ArnLike': {'a:b': 'bucket'}}"), "six parts"),
        Arguments.of(with("Condition", "{'StringEquals': {'a:b': '${c'}}"), "condition key"),
        Arguments.of(
            Documents.document(
                STATEMENT.replace("{", "{'Sid': 'a',"), STATEMENT.replace("{", "{'Sid': 'a',")),
            "Statement[1].Sid: 'a' is the Sid of another statement"));
  }

  @ParameterizedTest
  @MethodSource("malformedBucketPolicies")
  void bucketPolicyIsRefusedWithPlaceAndReason(String document, String expectedPart) {
    String message = refused(document, PolicyKind.bucket("bucket")).reason();
    assertTrue(message.contains(expectedPart), document + " -> " + message);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "arn:aws:s3:::bucket",
        "arn:aws:s3:::bucket/*",
        "arn:aws:s3:::bucket/a/${aws:username}/*",
        "arn:aws:s3:::bucket*",
        "arn:aws:s3:::b?cket/key",
        "arn:aws:s3:::*",
        "arn:aws:s3:::*/*",
        "arn:aws:s3:::*t/key",
        "arn:aws:s3:::bucket?key",
        "*",
      })
  void resourceOfThisBucketIsAccepted(String resource) {
    Documents.parse(with("Resource", "'" + resource + "'"), PolicyKind.bucket("bucket"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "'*'",
        "{'AWS': '*'}",
        "{'AWS': ['111111111111', 'arn:aws:iam::111111111111:root']}",
        "{'AWS': 'arn:aws:iam::111111111111:user/a=b,c.d@e-f_g+h'}",
        "{'AWS': 'arn:aws:iam::111111111111:role/a/b/c'}",
        "{'AWS': 'arn:aws:sts::111111111111:assumed-role/a/bc'}",
        "{'CanonicalUser': '79a59df900b949e55d96a1e698fbacedfd6e09d98eacf8f8d5218e7cd47ef2be'}",
        "{'Service': 'logging.s3.amazonaws.com', 'AWS': '111111111111'}",
      })
  void principalIsAccepted(String principal) {
    Documents.parse(with("Principal", principal), PolicyKind.bucket("bucket"));
  }

  @Test
  void versionOf2008HasNoVariables() {
    String document =
        "{'Version': '2008-10-17', 'Id': 'a b', 'Statement': "
            + STATEMENT.replace("bucket/*", "bucket/${")
            + "}";
    Policy policy = Documents.parse(document, PolicyKind.bucket("bucket"));
    assertEquals(Verdict.ALLOW, policy.evaluate(Documents.getObject(Documents.ALICE, "${")));
    assertEquals(Verdict.NO_MATCH, policy.evaluate(Documents.getObject(Documents.ALICE, "x")));
  }

  @Test
  void sizesAreLimitedByKind() {
    String padding = " ".repeat(PolicyKind.BUCKET_BYTES_MAX);
    String identity = "{'Statement': {'Effect': 'Allow', 'Action': 's3:*', 'Resource': '*'}}";
    String text = Documents.document(STATEMENT);
    refused(text + padding, PolicyKind.bucket("bucket"));
    refused(identity + padding, PolicyKind.session());
    refused(identity, PolicyKind.identity(50));
    refused(identity + " ".repeat(200_000), PolicyKind.identity(6_144));
    assertDoesNotThrow(
        () -> Policy.parse(Documents.json(identity + padding), PolicyKind.identity(100)));
    String exact = text + padding.substring(text.length());
    assertDoesNotThrow(() -> Policy.parse(Documents.json(exact), PolicyKind.bucket("bucket")));
    // The bytes of UTF-8 count, not the characters.
    refused(
        exact.replace("'Statement'", "'Id': '\u00e9', 'Statement'").substring(0, exact.length()),
        PolicyKind.bucket("bucket"));
  }

  @Test
  void bytesHaveToBeUtf8() {
    byte[] document = Documents.json(with("Sid", "'abc'")).getBytes(StandardCharsets.UTF_8);
    document[new String(document, StandardCharsets.UTF_8).indexOf("abc")] = (byte) 0xff;
    assertThrows(
        MalformedPolicyException.class, () -> Policy.parse(document, PolicyKind.bucket("bucket")));
  }

  static Stream<Arguments> malformedPoliciesOfOtherKinds() {
    String allow = "{'Effect': 'Allow', 'Action': '%s', 'Resource': '%s'%s}";
    String trust = "{'Effect': 'Allow', 'Principal': %s, 'Action': '%s'%s}";
    PolicyKind identity = PolicyKind.identity(2_048);
    return Stream.of(
        Arguments.of(identity, allow.formatted("s3:*", "*", ", 'Principal': '*'"), "Principal: is"),
        Arguments.of(
            PolicyKind.session(), allow.formatted("s3:*", "*", ", 'NotPrincipal': '*'"), "is not"),
        Arguments.of(identity, allow.formatted("s3:*", "*", ", 'Sid': 'a b'"), "letters"),
        Arguments.of(identity, "{'Effect': 'Allow', 'Action': 's3:*'}", "has no Resource"),
        Arguments.of(identity, allow.formatted("iam:GetUserr", "*", ""), "not an action of iam"),
        Arguments.of(identity, allow.formatted("sts:Assume", "*", ""), "not an action of sts"),
        Arguments.of(identity, allow.formatted("iam:*", "arn:aws:iam::1:user/*", ",'Sid':1"), "S"),
        Arguments.of(identity, allow.formatted("iam:*", "arn:aws:iam::${a:b}:x", ""), "partition"),
        Arguments.of(identity, allow.formatted("*", "arn:aws:s3:::", ""), "partition"),
        Arguments.of(
            PolicyKind.trust(), trust.formatted("'*'", "sts:AssumeRole", ",'Resource':'*'"), "is"),
        Arguments.of(PolicyKind.trust(), trust.formatted("'*'", "s3:GetObject", ""), "service"),
        Arguments.of(
            PolicyKind.trust(),
            trust.formatted("'*'", "sts:AssumeRole", "").replace("Principal", "NotPrincipal"),
            "NotPrincipal: is not an element"),
        Arguments.of(
            PolicyKind.trust(), "{'Effect': 'Allow', 'Action': 'sts:AssumeRole'}", "has no Princ"),
        Arguments.of(
            PolicyKind.trust(),
            trust.formatted("{'Federated': '*'}", "sts:AssumeRoleWithWebIdentity", ""),
            "is no identity provider"));
  }

  @ParameterizedTest
  @MethodSource("malformedPoliciesOfOtherKinds")
  void otherKindsRefuseWhatTheyDoNotHave(PolicyKind kind, String statement, String expectedPart) {
    String message = refused(Documents.document(statement), kind).reason();
    assertTrue(message.contains(expectedPart), statement + " -> " + message);
  }

  @ParameterizedTest
  @ValueSource(strings = {"ec2:RunInstances", "*", "*:*", "IAM:getuser", "s3:get*", "S3:Put?bject"})
  void identityPolicyCanHaveActionsOfAnyService(String action) {
    Documents.identityPolicy(
        "{'Effect': 'Allow', 'Action': '" + action + "', 'Resource': 'arn:aws:iam::*:user/x'}");
  }

  /** An account that cannot be here may be granted something. A denial must not miss anybody. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "'Effect': 'Deny', 'Principal'",
        "'Effect': 'Deny', 'NotPrincipal'",
        "'Effect': 'Allow', 'NotPrincipal'"
      })
  void accountsThatCannotBeHereAreOnlyGranted(String what) {
    String rest =
        ": {'AWS': 'arn:aws:iam::tenant1:root'}, 'Action': 's3:GetObject',"
            + " 'Resource': 'arn:aws:s3:::bucket/*'}}";
    refused("{'Statement': {" + what + rest, PolicyKind.bucket("bucket"));
    Policy allowing =
        Documents.parse(
            "{'Statement': {'Effect': 'Allow', 'Principal'" + rest, PolicyKind.bucket("bucket"));
    assertFalse(allowing.isPublic());
  }
}
