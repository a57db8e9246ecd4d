package dev.ashlar.gateway.form;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.ashlar.gateway.error.S3Exception;
import io.netty.buffer.ByteBuf;
import java.time.Instant;
import java.util.Base64;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which forms a policy allows. */
class PostPolicyTest {
  private static final Instant NOW = Instant.parse("2026-11-28T12:00:00Z");
  private static final String UNTIL = "\"expiration\": \"2026-11-28T12:00:01.000Z\"";

  private static PostPolicy policy(String json) throws S3Exception {
    return PostPolicy.parse(Base64.getEncoder().encodeToString(json.getBytes(UTF_8)));
  }

  private static PostPolicy of(String conditions) throws S3Exception {
    return policy("{" + UNTIL + ", \"conditions\": [{\"bucket\": \"bkt\"}, " + conditions + "]}");
  }

  private static PostForm form(String... fields) throws Exception {
    FormBody form = new FormBody();
    for (int i = 0; i < fields.length; i += 2) {
      form.field(fields[i], fields[i + 1]);
    }
    return FormExchange.read(form.file("a", "12345"));
  }

  private static void denied(String conditions, String... fields) throws Exception {
    PostPolicy policy = of(conditions);
    PostForm form = form(fields);
    S3Exception denied = assertThrows(S3Exception.class, () -> policy.require(form, NOW));
    assertEquals("AccessDenied", denied.error().code());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"key\": \"user/k\"}",
        "[\"eq\", \"$key\", \"user/k\"]",
        "[\"EQ\", \"$KeY\", \"user/k\"]",
        "{\"KEY\": \"user/k\"}",
        "[\"starts-with\", \"$key\", \"user/\"]",
        "[\"Starts-With\", \"$key\", \"\"]",
        "[\"starts-with\", \"$key\", \"u\"], [\"eq\", \"$key\", \"user/k\"]",
        "[\"starts-with\", \"$key\", \"\"], [\"content-length-range\", 0, 10]",
        "[\"starts-with\", \"$key\", \"\"], [\"content-length-range\", \"0\", \"10\"]",
        "[\"starts-with\", \"\\$key\", \"user\\/\"]"
      })
  void conditionsThatAreMet(String conditions) throws Exception {
    of(conditions)
        .require(
            form(
                "key",
                "user/k",
                "policy",
                "p",
                "x-amz-signature",
                "s",
                "AWSAccessKeyId",
                "a",
                "Signature",
                "s",
                "x-ignore-me",
                "anything"),
            NOW);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"key\": \"user/\"}",
        "{\"key\": \"User/k\"}",
        "[\"starts-with\", \"$key\", \"users\"]",
        "[\"starts-with\", \"$key\", \"\"], {\"key\": \"other\"}",
        "[\"starts-with\", \"$key\", \"\"], {\"bucket\": \"other\"}",
        "[\"starts-with\", \"$key\", \"\"], {\"acl\": \"private\"}",
        "[\"starts-with\", \"$key\", \"\"], [\"starts-with\", \"$x-amz-meta-a\", \"a\"]",
        "[\"starts-with\", \"$key\", \"\"], [\"eq\", \"$x-amz-meta-a\", \"\"]",
        "{\"acl\": \"private\"}",
        "[\"content-length-range\", 0, 10]"
      })
  void conditionsThatAreNotMet(String conditions) throws Exception {
    denied(conditions, "key", "user/k");
  }

  @Test
  void everyFieldNeedsACondition() throws Exception {
    String key = "[\"starts-with\", \"$key\", \"\"]";
    of(key).require(form("key", "k"), NOW);
    denied(key, "key", "k", "acl", "private");
    denied(key, "key", "k", "Content-Type", "a/b");
    denied(key, "key", "k", "x-amz-meta-a", "");
    denied(key, "key", "k", "x-amz-credential", "c");
    denied(key, "key", "k", "x-amz-security-token", "t");
    denied(key, "key", "k", "success_action_redirect", "http://a.test/");
    denied(key, "key", "k", "unknown", "");
    PostPolicy withoutBucket = policy("{" + UNTIL + ", \"conditions\": [" + key + "]}");
    assertThrows(S3Exception.class, () -> withoutBucket.require(form("key", "k"), NOW));
  }

  @Test
  void checksumsOfTheFileNeedNone() throws Exception {
    String key = "[\"starts-with\", \"$key\", \"\"]";
    of(key).require(form("key", "k", "x-amz-checksum-sha256", "c"), NOW);
    of(key).require(form("key", "k", "X-Amz-Checksum-CRC32", "c"), NOW);
    denied(key, "key", "k", "x-amz-checksum-of-mine", "c");
    denied(key, "key", "k", "x-amz-checksum-algorithm", "SHA256");
    denied(key + ", {\"x-amz-checksum-sha256\": \"c\"}", "key", "k");
    denied(key + ", {\"x-amz-checksum-sha256\": \"c\"}", "key", "k", "x-amz-checksum-sha256", "d");
  }

  @Test
  void fieldThatMayHaveAnyValueMayBeAbsent() throws Exception {
    String conditions =
        "{\"key\": \"k\"}, [\"starts-with\", \"$x-amz-server-side-encryption\", \"\"]";
    of(conditions).require(form("key", "k"), NOW);
    of(conditions).require(form("key", "k", "x-amz-server-side-encryption", "AES256"), NOW);
  }

  @Test
  void bucketIsTheOneThatIsPostedTo() throws Exception {
    denied(
        "[\"starts-with\", \"$key\", \"\"], {\"bucket\": \"other\"}",
        "key",
        "k",
        "bucket",
        "other");
    of("[\"starts-with\", \"$key\", \"\"]").require(form("key", "k", "bucket", "other"), NOW);
  }

  @Test
  void eachTypeOfAListHasToBeginAsWanted() throws Exception {
    String conditions = "{\"key\": \"k\"}, [\"starts-with\", \"$Content-Type\", \"image/\"]";
    of(conditions).require(form("key", "k", "content-type", "image/jpeg, image/png"), NOW);
    denied(conditions, "key", "k", "content-type", "image/jpeg,text/html");
  }

  @Test
  void variablesAreReplacedBefore() throws Exception {
    of("{\"key\": \"up/a\"}").require(form("key", "up/${filename}"), NOW);
    denied("{\"key\": \"up/${filename}\"}", "key", "up/${filename}");
  }

  @Test
  void expiredPolicy() throws Exception {
    PostPolicy policy = of("{\"key\": \"k\"}");
    PostForm form = form("key", "k");
    policy.require(form, NOW);
    assertThrows(S3Exception.class, () -> policy.require(form, NOW.plusSeconds(1)));
  }

  @ParameterizedTest
  @CsvSource({
    "0, 4, EntityTooLarge",
    "6, 10, EntityTooSmall",
    "5, 5, ''",
    "0, 999999999999999999, ''",
    "6, 4, EntityTooLarge"
  })
  void sizes(long min, long max, String code) throws Exception {
    PostForm form = form("key", "k");
    of("{\"key\": \"k\"}, [\"content-length-range\", " + min + ", " + max + "]").require(form, NOW);
    String refused = "";
    try {
      for (ByteBuf piece = form.body().read(); piece != null; piece = form.body().read()) {
        piece.release();
      }
    } catch (S3Exception e) {
      refused = e.error().code();
    }
    assertEquals(code, refused);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "[]",
        "null",
        "{",
        "{}",
        "{\"conditions\": []}",
        "{\"expiration\": \"2026-11-28T12:00:01Z\"}",
        "{\"EXPIRATION\": \"2026-11-28T12:00:01Z\", \"conditions\": []}",
        "{\"expiration\": \"2026-11-28T12:00:01Z\", \"CONDITIONS\": []}",
        "{\"expiration\": \"2026-11-28T12:00:01Z\", \"conditions\": [], \"other\": 1}",
        "{\"expiration\": \"2026-11-28T12:00:01Z\", \"conditions\": {}}",
        "{\"expiration\": \"2026-11-28T12:00:01Z\", \"conditions\": [{}]}",
        "{\"expiration\": \"2026-11-28T12:00:01Z\", \"conditions\": [{\"a\": \"1\", \"b\": \"2\"}]}",
        "{\"expiration\": \"2026-11-28T12:00:01Z\", \"conditions\": [[]]}",
        "{\"expiration\": \"2026-11-28T12:00:01Z\", \"conditions\": [\"key\"]}",
        "{\"expiration\": \"2026-11-28T12:00:01Z\", \"conditions\": [[\"eq\", \"$key\"]]}",
        "{\"expiration\": \"2026-11-28T12:00:01Z\", \"conditions\": [[\"eq\", \"key\", \"k\"]]}",
        "{\"expiration\": \"2026-11-28T12:00:01Z\", \"conditions\": [[\"ne\", \"$key\", \"k\"]]}",
        "{\"expiration\": \"2026-11-28T12:00:01Z\", \"conditions\": [[\"eq\", \"$key\", []]]}",
        "{\"expiration\": \"2026-11-28T12:00:01Z\", \"conditions\": [[\"content-length-range\", 0]]}",
        "{\"expiration\": \"2026-11-28T12:00:01Z\","
            + " \"conditions\": [[\"content-length-range\", -1, 0]]}",
        "{\"expiration\": \"2026-11-28T12:00:01Z\","
            + " \"conditions\": [[\"content-length-range\", 0, 1e3]]}",
        "{\"expiration\": \"2026-11-28 12:00:01\", \"conditions\": []}",
        "{\"expiration\": 1, \"conditions\": []}",
        "{\"expiration\": \"soon\", \"conditions\": []} {}"
      })
  void whatIsNoPolicy(String json) {
    S3Exception refused = assertThrows(S3Exception.class, () -> policy(json));
    assertEquals("InvalidPolicyDocument", refused.error().code());
  }
}
