package dev.ashlar.it.client;

import static dev.ashlar.it.harness.S3Failures.assertFails;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.it.harness.Buckets;
import dev.ashlar.it.harness.Clients;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.SharedServer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.Delete;
import software.amazon.awssdk.services.s3.model.EncodingType;
import software.amazon.awssdk.services.s3.model.ObjectIdentifier;
import software.amazon.awssdk.services.s3.model.S3Object;

/** Keys that look like something else are just keys. */
@ExtendWith(SharedServer.class)
class SdkKeysIT {
  static final List<String> KEYS =
      List.of(
          "a",
          "a/b",
          "a/",
          "a//b",
          "a/b/",
          "/",
          "//",
          "///x",
          "/lead",
          "trail/",
          ".",
          "..",
          "../x",
          "./y",
          "x/../y",
          "x/./y",
          "%00",
          "%2F",
          "%",
          "%zz",
          "a b",
          " lead",
          "trail ",
          "a+b",
          "a&b=c",
          "a?b=c",
          "#hash",
          "a;b",
          "a:b",
          "a@b",
          "a,b",
          "a=b",
          "a$b",
          "a!b",
          "a*b",
          "a'b",
          "a(b)",
          "a\\b",
          "a\"b",
          "a<b>c",
          "a|b",
          "a^b",
          "a`b",
          "a{b}",
          "a~b",
          "a_b-c.d",
          "ä",
          "日本語/キー",
          "😀",
          "e\u0301",
          "tab\there",
          "line\nbreak",
          "cr\rhere",
          "\u0001control",
          "\u007f",
          "\uffee",
          "k".repeat(1024),
          "ä".repeat(512),
          "uploads",
          "?uploads",
          "index.html");

  private final S3Client s3;
  private final String bucket;

  SdkKeysIT(ServerProcess server) {
    s3 = Clients.sync(server);
    bucket = Buckets.create(s3, "odd-keys");
  }

  @AfterAll
  void close() {
    s3.close();
  }

  @Test
  void oddKeysAreJustKeys() {
    for (String key : KEYS) {
      s3.putObject(b -> b.bucket(bucket).key(key), RequestBody.fromString("of " + key));
    }
    for (String key : KEYS) {
      String got = s3.getObjectAsBytes(b -> b.bucket(bucket).key(key)).asUtf8String();
      assertEquals("of " + key, got);
      s3.copyObject(
          b ->
              b.sourceBucket(bucket)
                  .sourceKey(key)
                  .destinationBucket(bucket)
                  .destinationKey("copy"));
      assertEquals(
          "of " + key, s3.getObjectAsBytes(b -> b.bucket(bucket).key("copy")).asUtf8String());
    }
    s3.deleteObject(b -> b.bucket(bucket).key("copy"));
    assertEquals(sorted(KEYS), listAll());
    deleteAll();
    assertEquals(List.of(), listAll());
  }

  @Test
  void keysLongerThanTheLimitAreRefused() {
    for (String key : List.of("k".repeat(1025), "ä".repeat(513))) {
      assertFails(
          400,
          "KeyTooLongError",
          () -> s3.putObject(b -> b.bucket(bucket).key(key), RequestBody.empty()));
    }
  }

  /** URL-encoded: XML cannot carry control characters. */
  private List<String> listAll() {
    return s3
        .listObjectsV2Paginator(b -> b.bucket(bucket).maxKeys(7).encodingType(EncodingType.URL))
        .contents()
        .stream()
        .map(S3Object::key)
        .toList();
  }

  private void deleteAll() {
    List<ObjectIdentifier> ids = new ArrayList<>();
    KEYS.forEach(key -> ids.add(ObjectIdentifier.builder().key(key).build()));
    // XML cannot carry control characters; those keys go one by one.
    ids.removeIf(id -> id.key().chars().anyMatch(c -> c < 0x20));
    s3.deleteObjects(b -> b.bucket(bucket).delete(Delete.builder().objects(ids).build()));
    KEYS.stream()
        .filter(key -> key.chars().anyMatch(c -> c < 0x20))
        .forEach(key -> s3.deleteObject(b -> b.bucket(bucket).key(key)));
  }

  /** S3's order is that of the keys' UTF-8 bytes. */
  static List<String> sorted(List<String> keys) {
    Comparator<String> utf8 =
        (a, b) ->
            Arrays.compareUnsigned(
                a.getBytes(java.nio.charset.StandardCharsets.UTF_8),
                b.getBytes(java.nio.charset.StandardCharsets.UTF_8));
    return keys.stream().sorted(utf8).toList();
  }
}
