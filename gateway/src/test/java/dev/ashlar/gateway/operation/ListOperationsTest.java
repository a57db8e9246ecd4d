package dev.ashlar.gateway.operation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.gateway.uri.Percent;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ListOperationsTest {
  private final TestS3 s3 = new TestS3();

  private void put(String... keys) throws Exception {
    s3.ok(200, "PUT", "/bkt");
    for (String key : keys) {
      s3.ok(200, TestS3.request("PUT", "/bkt/" + Percent.encode(key)).body("x"));
    }
  }

  private TestAnswer list(String query) throws Exception {
    return s3.ok(200, "GET", "/bkt" + query);
  }

  private static List<String> keys(TestAnswer answer) throws Exception {
    return answer.each("Contents", "Key");
  }

  private static List<String> prefixes(TestAnswer answer) throws Exception {
    return answer.each("CommonPrefixes", "Prefix");
  }

  @Test
  void entriesHaveTheFieldsOfS3() throws Exception {
    put("k");
    TestAnswer listed = list("");
    assertEquals("bkt", listed.element("Name"));
    assertEquals("", listed.element("Prefix"));
    assertEquals("", listed.element("Marker"));
    assertEquals("1000", listed.element("MaxKeys"));
    assertEquals("false", listed.element("IsTruncated"));
    assertEquals(List.of("1"), listed.each("Contents", "Size"));
    assertEquals(List.of("STANDARD"), listed.each("Contents", "StorageClass"));
    assertEquals(
        List.of(s3.ok(200, "HEAD", "/bkt/k").header("ETag")), listed.each("Contents", "ETag"));
    assertTrue(listed.each("Contents", "LastModified").getFirst().endsWith(".000Z"));
    assertTrue(listed.text().contains("<Owner><ID>owner</ID>"));
    assertFalse(list("?list-type=2").text().contains("<Owner>"));
    assertTrue(list("?list-type=2&fetch-owner=true").text().contains("<Owner>"));
    s3.refused("NoSuchBucket", "GET", "/none");
    s3.refused("NoSuchBucket", "GET", "/none?list-type=2");
  }

  @Test
  void delimitersRollUp() throws Exception {
    put("a", "a/1", "a/2", "b/1", "c");
    TestAnswer root = list("?delimiter=/");
    assertEquals(List.of("a", "c"), keys(root));
    assertEquals(List.of("a/", "b/"), prefixes(root));
    assertEquals("/", root.element("Delimiter"));
    TestAnswer below = list("?delimiter=/&prefix=a/");
    assertEquals(List.of("a/1", "a/2"), keys(below));
    assertEquals(List.of(), prefixes(below));
    assertEquals(List.of("a", "a/1", "a/2", "b/1", "c"), keys(list("?delimiter=")));
  }

  @Test
  void pagesOfVersion1() throws Exception {
    put("a", "b/1", "b/2", "c", "d");
    TestAnswer first = list("?delimiter=/&max-keys=2");
    assertEquals("true", first.element("IsTruncated"));
    assertEquals("b/", first.element("NextMarker"));
    TestAnswer second = list("?delimiter=/&max-keys=2&marker=b/");
    assertEquals(List.of("c", "d"), keys(second));
    assertEquals("false", second.element("IsTruncated"));
    assertEquals("b/", second.element("Marker"));
    TestAnswer plain = list("?max-keys=2");
    assertEquals("true", plain.element("IsTruncated"));
    assertEquals("(absent)", plain.element("NextMarker"));
    assertEquals(List.of("b/2", "c", "d"), keys(list("?marker=b/1")));
  }

  @Test
  void pagesOfVersion2() throws Exception {
    put("a", "b/1", "b/2", "c", "d");
    List<String> seen = new ArrayList<>();
    String token = "";
    int pages = 0;
    while (true) {
      TestAnswer page = list("?list-type=2&delimiter=/&max-keys=1" + token);
      seen.addAll(keys(page));
      seen.addAll(prefixes(page));
      assertEquals("1", page.element("KeyCount"));
      pages++;
      if (page.element("IsTruncated").equals("false")) {
        break;
      }
      token = "&continuation-token=" + page.element("NextContinuationToken");
    }
    assertEquals(List.of("a", "b/", "c", "d"), seen);
    assertEquals(4, pages);
    TestAnswer after = list("?list-type=2&start-after=b/1");
    assertEquals(List.of("b/2", "c", "d"), keys(after));
    assertEquals("b/1", after.element("StartAfter"));
    assertEquals("", list("?list-type=2&continuation-token=").element("ContinuationToken"));
    s3.refused("InvalidArgument", "GET", "/bkt?list-type=2&continuation-token=abc");
  }

  @Test
  void pageSizes() throws Exception {
    put("a", "b");
    for (String version : List.of("?", "?list-type=2&")) {
      TestAnswer none = list(version + "max-keys=0");
      assertEquals(List.of(), keys(none));
      assertEquals("false", none.element("IsTruncated"));
      assertEquals("0", none.element("MaxKeys"));
      assertEquals("1000", list(version + "max-keys=5000").element("MaxKeys"));
      s3.refused("InvalidArgument", "GET", "/bkt" + version + "max-keys=-1");
      s3.refused("InvalidArgument", "GET", "/bkt" + version + "max-keys=many");
      s3.refused("InvalidArgument", "GET", "/bkt" + version + "encoding-type=base64");
    }
  }

  @Test
  void versionsAreTheOnlyOnes() throws Exception {
    put("a", "b", "c");
    TestAnswer page = list("?versions&max-keys=2");
    assertEquals(List.of("a", "b"), page.each("Version", "Key"));
    assertEquals(List.of("null", "null"), page.each("Version", "VersionId"));
    assertEquals(List.of("true", "true"), page.each("Version", "IsLatest"));
    assertEquals("b", page.element("NextKeyMarker"));
    assertEquals("null", page.element("NextVersionIdMarker"));
    assertEquals(
        List.of("c"), list("?versions&key-marker=b&version-id-marker=null").each("Version", "Key"));
  }

  /** It decodes to what was asked for, and is that already where nothing is to be decoded. */
  @ParameterizedTest
  @CsvSource({
    "a%20b, 'a b'",
    "%C3%A4/, \u00e4/",
    "a%2Bb%25, a%2Bb%25",
    "%01%0D%7F, %01%0D%7F",
    "%EF%BF%BE, %EF%BF%BE"
  })
  void prefixIsEncodedAsFarAsNeedBe(String asked, String answered) throws Exception {
    put("k");
    assertEquals(answered, list("?encoding-type=url&prefix=" + asked).element("Prefix"));
  }

  @Test
  void namesAreEncodedOnDemand() throws Exception {
    put("a b+c/\u00e4&<\u0001", "z/1");
    TestAnswer listed = list("?encoding-type=url&delimiter=%2F&prefix=a%20b");
    assertEquals("url", listed.element("EncodingType"));
    assertEquals(List.of("a%20b%2Bc/"), prefixes(listed));
    assertEquals("a b", listed.element("Prefix"));
    assertEquals(
        "a%20b%2Bc", list("?list-type=2&encoding-type=url&prefix=a%20b%2Bc").element("Prefix"));
    assertEquals(List.of("a%20b%2Bc/%C3%A4%26%3C%01"), keys(list("?encoding-type=url&prefix=a")));
    // What XML cannot hold is written as S3 writes it.
    assertTrue(list("?prefix=a").text().contains("<Key>a b+c/\u00e4&amp;&lt;&#x1;</Key>"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "../x",
        "./x",
        "//",
        "/",
        "a//b",
        "a/../b",
        "%00",
        "%25",
        "a+b",
        "a b",
        "?",
        "#",
        "\\",
        "\u00e4",
        "\ud83d\ude00",
        ".",
        "..",
        "a/",
        "~",
        "x=y&z",
        "\u0001",
        "\u007f",
        "\ufffd"
      })
  void keysAreOpaque(String key) throws Exception {
    assertRoundTrip(key);
  }

  @Property(tries = 200)
  void anyKeyComesBack(@ForAll("keys") String key) throws Exception {
    assertRoundTrip(key);
  }

  @Provide
  Arbitrary<String> keys() {
    return Arbitraries.strings()
        .ofMinLength(1)
        .ofMaxLength(200)
        .filter(key -> isUtf8(key) && key.getBytes(StandardCharsets.UTF_8).length <= 1024);
  }

  private static boolean isUtf8(String key) {
    return StandardCharsets.UTF_8.newEncoder().canEncode(key);
  }

  private static void assertRoundTrip(String key) throws Exception {
    TestS3 s3 = new TestS3();
    s3.ok(200, "PUT", "/bkt");
    String path = "/bkt/" + Percent.encode(key).replace("/", "%2F");
    s3.ok(200, TestS3.request("PUT", path).body(key));
    assertEquals(key, s3.ok(200, "GET", path).text());
    assertEquals(key, s3.ok(200, "GET", "/bkt/" + Percent.encode(key)).text());
    String listed = s3.ok(200, "GET", "/bkt?encoding-type=url").each("Contents", "Key").getFirst();
    assertEquals(key, URLDecoder.decode(listed, StandardCharsets.UTF_8));
  }

  @Test
  void keysHaveLimits() throws Exception {
    put("k");
    s3.ok(200, TestS3.request("PUT", "/bkt/" + "k".repeat(1024)).body("x"));
    TestAnswer answer = s3.send(TestS3.request("PUT", "/bkt/" + "k".repeat(1025)).body("x"));
    assertEquals("KeyTooLongError", answer.code());
    assertEquals("1025", answer.detail("Size"));
    s3.refused("KeyTooLongError", "GET", "/bkt/" + "%C3%A4".repeat(513));
    for (String bad : List.of("%FF", "%C3", "%C3%28", "%ED%A0%80", "%", "%1", "%zz", "\u20ac")) {
      s3.refused("InvalidURI", "GET", "/bkt/" + bad);
    }
  }

  @Test
  void neighboursStaySeparate() throws Exception {
    put("a", "a/b", "a/", "A");
    assertEquals(List.of("A", "a", "a/", "a/b"), keys(list("")));
    s3.ok(204, "DELETE", "/bkt/a");
    assertEquals(List.of("A", "a/", "a/b"), keys(list("")));
  }
}
