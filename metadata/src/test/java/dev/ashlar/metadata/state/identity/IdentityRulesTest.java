package dev.ashlar.metadata.state.identity;

import static dev.ashlar.protocol.client.TestIdentities.document;
import static dev.ashlar.protocol.client.TestIdentities.group;
import static dev.ashlar.protocol.client.TestIdentities.policy;
import static dev.ashlar.protocol.client.TestIdentities.provider;
import static dev.ashlar.protocol.client.TestIdentities.putNew;
import static dev.ashlar.protocol.client.TestIdentities.role;
import static dev.ashlar.protocol.client.TestIdentities.user;

import dev.ashlar.protocol.message.IdentityKind;
import dev.ashlar.protocol.message.IdentityRow;
import dev.ashlar.protocol.message.IdentityTag;
import dev.ashlar.protocol.message.ResultCode;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** What a row must look like by itself. */
class IdentityRulesTest extends IdentityFixture {
  private static Arguments row(String what, ResultCode code, IdentityRow.Builder row) {
    return Arguments.of(what, code, row);
  }

  private static Arguments good(String what, IdentityRow.Builder row) {
    return row(what, ResultCode.OK, row);
  }

  private static Arguments bad(String what, IdentityRow.Builder row) {
    return row(what, ResultCode.INVALID_COMMAND, row);
  }

  private static Arguments tooMuch(String what, IdentityRow.Builder row) {
    return row(what, ResultCode.LIMIT_EXCEEDED, row);
  }

  private static IdentityRow.Builder withTags(int number) {
    IdentityRow.Builder user = user("u");
    IntStream.range(0, number)
        .forEach(i -> user.addTags(IdentityTag.newBuilder().setKey("k" + i).setValue("v")));
    return user;
  }

  private static IdentityRow.Builder withDocument(IdentityRow.Builder row, int chars) {
    return row.addDocuments(document("d").setText("x".repeat(chars)));
  }

  private static IdentityRow.Builder policyOf(String text) {
    return policy("p").setDocuments(0, document("v1").setText(text));
  }

  private static IdentityRow.Builder builtIn(int number) {
    IdentityRow.Builder user = user("u");
    IntStream.range(0, number).forEach(i -> user.addBuiltInPolicies("Built" + i));
    return user;
  }

  static Stream<Arguments> names() {
    return Stream.of(
        good("all characters of names", user("aZ09_+=,.@-")),
        good("longest name of a user", user("u".repeat(64))),
        bad("longer name of a user", user("u".repeat(65)).setId("AIDA")),
        good("longest name of a group", group("g".repeat(123)).setName("g".repeat(128))),
        bad("longer name of a group", group("g").setName("g".repeat(129))),
        bad("longer name of a role", role("r").setName("r".repeat(65))),
        bad("longer name of a policy", policy("p").setName("p".repeat(129))),
        bad("no name", user("u").setName("")),
        bad("slash in a name", user("a/b")),
        bad("letter beyond ASCII", user("ü").setId("AIDA")),
        good("provider's name with a path", provider("idp.example/realms/a")),
        bad("provider's name with a space", provider("idp.example /")),
        bad("no id", user("u").setId("")),
        bad("id with a slash", user("u").setId("AI/DA")),
        bad("long id", user("u").setId("A".repeat(129))),
        good("path", user("u").setPath("/a/b/")),
        good("longest path", user("u").setPath("/" + "p".repeat(510) + "/")),
        bad("longer path", user("u").setPath("/" + "p".repeat(511) + "/")),
        bad("no path", user("u").setPath("")),
        bad("path without a slash at its end", user("u").setPath("/a")),
        bad("path without a slash at its beginning", user("u").setPath("a/")),
        bad("path with a space", user("u").setPath("/a b/")),
        bad("path of a provider", provider("p").setPath("/a/")),
        bad("no kind", user("u").setKind(IdentityKind.IDENTITY_NONE)),
        bad("unknown kind", user("u").setKindValue(99)),
        row("unknown account", ResultCode.NO_SUCH_ENTITY, user("u").setAccount("999999999999")),
        row("no account", ResultCode.NO_SUCH_ENTITY, user("u").setAccount("")));
  }

  static Stream<Arguments> tags() {
    return Stream.of(
        good("50 tags", withTags(50)),
        tooMuch("51 tags", withTags(51)),
        bad("one tag twice", withTags(2).setTags(1, withTags(1).getTags(0))),
        bad("tag without a key", withTags(1).setTags(0, IdentityTag.newBuilder().setValue("v"))),
        bad("long key", withTags(1).setTags(0, IdentityTag.newBuilder().setKey("k".repeat(129)))),
        bad(
            "long value",
            withTags(1)
                .setTags(0, IdentityTag.newBuilder().setKey("k").setValue("v".repeat(257)))));
  }

  static Stream<Arguments> documents() {
    return Stream.of(
        good("a user's largest", withDocument(user("u"), 2048)),
        tooMuch("a user's larger", withDocument(user("u"), 2049)),
        tooMuch(
            "a user's two", withDocument(user("u"), 2048).addDocuments(document("e").setText("x"))),
        good("a group's largest", withDocument(group("g"), 5120)),
        tooMuch("a group's larger", withDocument(group("g"), 5121)),
        good("a role's largest", withDocument(role("r"), 10_240)),
        tooMuch("a role's larger", withDocument(role("r"), 10_241)),
        tooMuch("a provider's", withDocument(provider("p"), 1)),
        good("white space does not count", policyOf("x \n\t\r".repeat(4915) + "x")),
        tooMuch("too much white space", policyOf("x" + " ".repeat(6144 * 4))),
        good("largest policy", policyOf("x".repeat(6144))),
        tooMuch("larger policy", policyOf("x".repeat(6145))),
        bad("empty document", policyOf("")),
        bad("policy without a version", policy("p").clearDocuments()),
        bad("no default version", policy("p").setDefaultVersion("v2")),
        bad("version beyond the latest", policy("p").setVersionsMade(0)),
        bad("name that is no version", policy("p").addDocuments(document("w2"))),
        bad("version 0", policy("p").addDocuments(document("v0"))),
        bad("version with a sign", policy("p").addDocuments(document("v+1"))),
        bad("version twice", policy("p").addDocuments(document("v1"))),
        good("five versions", versions(5)),
        tooMuch("six versions", versions(6)),
        bad("default version of a user", user("u").setDefaultVersion("v1")),
        bad("document without a name", user("u").addDocuments(document(""))),
        bad("document with a long name", user("u").addDocuments(document("d".repeat(129)))));
  }

  private static IdentityRow.Builder versions(int number) {
    IdentityRow.Builder policy = policy("p").setVersionsMade(number);
    IntStream.rangeClosed(2, number).forEach(i -> policy.addDocuments(document("v" + i)));
    return policy;
  }

  static Stream<Arguments> facts() {
    return Stream.of(
        good("ten attached", builtIn(10)),
        tooMuch("eleven attached", builtIn(11)),
        bad("one attached twice", builtIn(1).addBuiltInPolicies("Built0")),
        bad("policy with a policy", policy("p").addBuiltInPolicies("Built")),
        bad("group of a group", group("g").addGroups("AGPAG")),
        row("unknown group", ResultCode.NO_SUCH_ENTITY, user("u").addGroups("AGPAG")),
        row("unknown policy", ResultCode.NO_SUCH_ENTITY, user("u").addAttachedPolicies("ANPAP")),
        bad("description of a user", user("u").setDescription("d")),
        good("longest description", role("r").setDescription("d".repeat(1000))),
        bad("longer description", role("r").setDescription("d".repeat(1001))),
        bad("no trust policy", role("r").setTrustPolicy("")),
        good("largest trust policy", role("r").setTrustPolicy("t".repeat(2048))),
        tooMuch("larger trust policy", role("r").setTrustPolicy("t".repeat(2049))),
        bad("trust policy of a user", user("u").setTrustPolicy("t")),
        bad("short session", role("r").setMaxSessionSeconds(3599)),
        good("longest session", role("r").setMaxSessionSeconds(43_200)),
        bad("longer session", role("r").setMaxSessionSeconds(43_201)),
        bad("negative session", role("r").setMaxSessionSeconds(-1)),
        bad("client of a user", user("u").addClientIds("c")),
        bad("client twice", provider("p").addClientIds("client")),
        good("thumbprint", provider("p").addThumbprints("0a".repeat(20))),
        bad("thumbprint in upper case", provider("p").addThumbprints("0A".repeat(20))),
        bad("short thumbprint", provider("p").addThumbprints("0a")));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource({"names", "tags", "documents", "facts"})
  void rowIsAcceptedOrRefused(String what, ResultCode code, IdentityRow.Builder row)
      throws Exception {
    refused(code, putNew(row));
  }
}
