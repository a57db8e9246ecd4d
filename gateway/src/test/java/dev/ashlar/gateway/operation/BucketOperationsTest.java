package dev.ashlar.gateway.operation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CreateUpload;
import dev.ashlar.protocol.message.DeleteBucket;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.UploadRow;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class BucketOperationsTest {
  private static final String CONFIGURATION =
      "<CreateBucketConfiguration xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">%s"
          + "</CreateBucketConfiguration>";

  private final TestS3 s3 = new TestS3();

  @Test
  void bucketsComeAndGo() throws Exception {
    s3.refused("NoSuchBucket", "HEAD", "/bkt");
    assertEquals("/bkt", s3.ok(200, "PUT", "/bkt").header("Location"));
    assertEquals("us-east-1", s3.ok(200, "HEAD", "/bkt").header("x-amz-bucket-region"));
    s3.ok(200, TestS3.request("PUT", "/bkt/k").body("x"));
    s3.refused("BucketNotEmpty", "DELETE", "/bkt");
    s3.ok(204, "DELETE", "/bkt/k");
    s3.ok(204, "DELETE", "/bkt/");
    s3.refused("NoSuchBucket", "DELETE", "/bkt");
  }

  @Test
  void anyNumberOfUnfinishedUploadsGoesWithTheBucket() throws Exception {
    s3.ok(200, "PUT", "/bkt");
    for (int i = 0; i < 10_500; i++) {
      UploadRow upload =
          UploadRow.newBuilder().setBucket("bkt").setKey("k" + i % 3).setUploadId("u" + i).build();
      s3.metadata.submit(
          Command.newBuilder().setCreateUpload(CreateUpload.newBuilder().setUpload(upload)));
    }
    Command.Builder atOnce =
        Command.newBuilder().setDeleteBucket(DeleteBucket.newBuilder().setName("bkt"));
    assertEquals(ResultCode.LIMIT_EXCEEDED, s3.metadata.submit(atOnce).getCode());
    s3.ok(200, TestS3.request("PUT", "/bkt/k").body("x"));
    s3.refused("BucketNotEmpty", "DELETE", "/bkt");
    s3.ok(204, "DELETE", "/bkt/k");
    s3.ok(204, "DELETE", "/bkt");
    s3.refused("NoSuchBucket", "HEAD", "/bkt");
  }

  @Test
  void namesAreTakenOnce() throws Exception {
    s3.ok(200, "PUT", "/bkt");
    s3.ok(200, "PUT", "/bkt");
    s3.refused(
        "BucketAlreadyExists", TestS3.request("PUT", "/bkt").header("x-test-owner", "other"));
    TestS3 elsewhere = new TestS3("eu-west-1");
    elsewhere.ok(200, "PUT", "/bkt");
    elsewhere.refused("BucketAlreadyOwnedByYou", "PUT", "/bkt");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "ab",
        "Abc",
        "a_b",
        "-abc",
        "abc-",
        ".abc",
        "abc.",
        "a..b",
        "a.-b",
        "a-.b",
        "192.168.5.4",
        "xn--abc",
        "abc-s3alias",
        "a%20b",
        "%C3%A4bc"
      })
  void badNamesAreRefused(String name) throws Exception {
    s3.refused("InvalidBucketName", "PUT", "/" + name);
    s3.refused("InvalidBucketName", "PUT", "/" + "a".repeat(64));
  }

  @ParameterizedTest
  @ValueSource(strings = {"abc", "a.b", "a-b", "1.2.3.4.5", "0bucket9", "a--b.c-d"})
  void goodNames(String name) throws Exception {
    s3.ok(200, "PUT", "/" + name);
    s3.ok(200, "PUT", "/" + "a".repeat(63));
  }

  @Test
  void locations() throws Exception {
    s3.ok(200, TestS3.request("PUT", "/bkt").body(CONFIGURATION.formatted("")));
    String here = "<LocationConstraint>us-east-1</LocationConstraint>";
    s3.ok(200, TestS3.request("PUT", "/bkt").body(CONFIGURATION.formatted(here)));
    s3.refused(
        "InvalidLocationConstraint",
        TestS3.request("PUT", "/bkt").body(CONFIGURATION.formatted(here.replace("us", "eu"))));
    s3.refused(
        "NotImplemented",
        TestS3.request("PUT", "/bkt").body(CONFIGURATION.formatted("<Tags><Tag/></Tags>")));
    s3.refused("MalformedXML", TestS3.request("PUT", "/bkt").body("<Create"));
    s3.refused("MalformedXML", TestS3.request("PUT", "/bkt").body("<Other/>"));
    assertEquals("", s3.ok(200, "GET", "/bkt?location").xml().text());
    TestS3 elsewhere = new TestS3("eu-west-1");
    elsewhere.ok(200, "PUT", "/bkt");
    assertEquals("eu-west-1", elsewhere.ok(200, "GET", "/bkt?location").xml().text());
  }

  @Test
  void bucketsAreListed() throws Exception {
    for (String name : List.of("bbb", "aaa", "abc")) {
      s3.ok(200, "PUT", "/" + name);
    }
    s3.ok(200, TestS3.request("PUT", "/other").header("x-test-owner", "other"));
    TestAnswer all = s3.ok(200, "GET", "/");
    assertTrue(all.text().contains("<Name>aaa</Name>"), all.text());
    assertEquals(3, all.text().split("<Bucket>", -1).length - 1);
    assertEquals(List.of("owner"), all.each("Owner", "ID"));
    for (String max : List.of("0", "10001", "-1", "x")) {
      s3.refused("InvalidArgument", "GET", "/?max-buckets=" + max);
    }
    TestAnswer page = s3.ok(200, "GET", "/?max-buckets=1&prefix=a");
    assertTrue(page.text().contains("<Name>aaa</Name>"));
    String token = page.element("ContinuationToken");
    TestAnswer rest = s3.ok(200, "GET", "/?max-buckets=1&prefix=a&continuation-token=" + token);
    assertTrue(rest.text().contains("<Name>abc</Name>"));
    assertEquals("(absent)", rest.element("ContinuationToken"));
    s3.refused("InvalidArgument", "GET", "/?continuation-token=!!");
    assertTrue(s3.ok(200, "GET", "/?bucket-region=us-east-1").text().contains("<Name>abc</Name>"));
    assertEquals("", s3.ok(200, "GET", "/?bucket-region=eu-west-1").element("Buckets"));
  }

  @ParameterizedTest
  @CsvSource({
    "replication, ReplicationConfigurationNotFoundError",
    "inventory, NotImplemented",
    "metrics, NotImplemented"
  })
  void featuresNeverConfigured(String feature, String code) throws Exception {
    s3.ok(200, "PUT", "/bkt");
    s3.refused(code, "GET", "/bkt?" + feature);
    s3.refused("NotImplemented", "PUT", "/bkt?" + feature);
    s3.ok(200, "HEAD", "/bkt");
  }

  @Test
  void featuresWithEmptyDocuments() throws Exception {
    s3.refused("NoSuchBucket", "GET", "/bkt?accelerate");
    s3.ok(200, "PUT", "/bkt");
    assertEquals("AccelerateConfiguration", s3.ok(200, "GET", "/bkt?accelerate").xml().name());
    s3.refused("NotImplemented", "PUT", "/bkt?accelerate");
  }

  @Test
  void featuresOfObjects() throws Exception {
    s3.ok(200, "PUT", "/bkt");
    s3.ok(200, TestS3.request("PUT", "/bkt/k").body("x"));
    s3.refused("NotImplemented", "POST", "/bkt/k?restore");
    s3.refused("NotImplemented", "POST", "/bkt/k?select&select-type=2");
    s3.refused("NotImplemented", "GET", "/bkt/k?torrent");
    for (String what : List.of("/bkt?acl", "/bkt/k?acl")) {
      TestAnswer acl = s3.ok(200, "GET", what);
      assertEquals(List.of("owner"), acl.each("Owner", "ID"));
      assertTrue(acl.text().contains("<Permission>FULL_CONTROL</Permission>"));
    }
  }

  @Test
  void unknownMethodsAreRefused() throws Exception {
    s3.refused("MethodNotAllowed", "POST", "/");
    s3.refused("MethodNotAllowed", "POST", "/bkt");
    s3.refused("MethodNotAllowed", "PATCH", "/bkt");
    s3.refused("MethodNotAllowed", "POST", "/bkt/k");
    s3.refused("MethodNotAllowed", "LINK", "/bkt/k");
  }

  @Test
  void hostsNameBuckets() throws Exception {
    s3.ok(200, "PUT", "/bkt");
    s3.ok(200, onHost("PUT", "/k/x", "BKT.s3.test:9000").body("data"));
    assertEquals("data", s3.ok(200, "GET", "/bkt/k/x").text());
    assertEquals("data", s3.ok(200, onHost("GET", "/k/x", "bkt.s3.test")).text());
    s3.ok(200, onHost("GET", "/", "bkt.s3.test"));
    s3.ok(200, onHost("PUT", "/", "dotted.name.s3.test"));
    s3.ok(200, "HEAD", "/dotted.name");
    s3.refused("NoSuchBucket", onHost("GET", "/k/x", "nots3.test"));
  }

  private static TestRequest onHost(String method, String uri, String host) {
    TestRequest request = TestS3.request(method, uri);
    request.headers().set("Host", host);
    return request;
  }

  @Test
  void keysAreDeletedTogether() throws Exception {
    s3.ok(200, "PUT", "/bkt");
    for (String key : List.of("a", "b", "c%3C%26", "d")) {
      s3.ok(200, TestS3.request("PUT", "/bkt/" + key).body("x"));
    }
    TestAnswer answer = s3.ok(200, delete(object("a") + object("none") + object("c&lt;&amp;")));
    assertEquals(List.of("a", "none", "c<&"), answer.each("Deleted", "Key"));
    TestAnswer quiet = s3.ok(200, delete("<Quiet>true</Quiet>" + object("b")));
    assertEquals(List.of(), quiet.each("Deleted", "Key"));
    TestAnswer mixed =
        s3.ok(
            200,
            delete(
                "<Object><Key>d</Key><VersionId>v9</VersionId></Object>"
                    + "<Object><Key>d</Key><ETag>\"other\"</ETag></Object>"
                    + "<Object><Key>d</Key><VersionId>null</VersionId></Object>"));
    assertEquals(List.of("NoSuchVersion", "PreconditionFailed"), mixed.each("Error", "Code"));
    assertEquals(List.of("d"), mixed.each("Deleted", "Key"));
    assertEquals(List.of(), s3.ok(200, "GET", "/bkt").each("Contents", "Key"));
  }

  @Test
  void thousandKeysAreTheMost() throws Exception {
    s3.ok(200, "PUT", "/bkt");
    for (int i = 0; i < 3; i++) {
      s3.ok(200, TestS3.request("PUT", "/bkt/key" + i * 400).body("x"));
    }
    StringBuilder objects = new StringBuilder();
    for (int i = 0; i < 1000; i++) {
      objects.append(object("key" + i));
    }
    assertEquals(1000, s3.ok(200, delete(objects.toString())).each("Deleted", "Key").size());
    assertEquals(List.of(), s3.ok(200, "GET", "/bkt").each("Contents", "Key"));
    s3.refused("MalformedXML", delete(objects + object("one more")));
    s3.refused("MalformedXML", delete(""));
    s3.refused("MalformedXML", delete("<Object/>"));
    s3.refused("MalformedXML", delete(object("")));
    s3.refused("InvalidRequest", TestS3.request("POST", "/bkt?delete").body("<Delete/>"));
    s3.refused("MaxMessageLengthExceeded", delete(object("x".repeat(5 << 20))));
  }

  private static String object(String key) {
    return "<Object><Key>" + key + "</Key></Object>";
  }

  private static TestRequest delete(String content) {
    return TestS3.request("POST", "/bkt?delete")
        .body("<Delete xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">" + content + "</Delete>")
        .header("Content-MD5", "checked by the authenticator");
  }
}
