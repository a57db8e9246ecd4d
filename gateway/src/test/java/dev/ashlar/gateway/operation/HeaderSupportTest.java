package dev.ashlar.gateway.operation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Headers that would change what a request means are heeded or refused, never ignored. */
class HeaderSupportTest {
  private final TestS3 s3 = new TestS3();

  @BeforeEach
  void createObject() throws Exception {
    s3.ok(200, "PUT", "/bkt");
    s3.ok(200, TestS3.request("PUT", "/bkt/k").header("x-amz-meta-a", "b").body("before"));
  }

  @ParameterizedTest
  @CsvSource({
    "x-amz-mfa, 20899872 301749",
    "x-amz-request-payer, somebody",
    "x-amz-bucket-namespace, account-regional",
    "x-amz-client-token, 1",
    "x-amz-if-match-initiated-time, 'Wed, 01 Jan 2020 00:00:00 GMT'",
    "x-amz-object-if-match, abc",
    "x-amz-object-lock-event-hold, ON",
    "x-amz-rename-source, /bkt/other",
    "x-amz-rename-source-if-match, abc",
    "x-amz-s3session-token, abc",
    "x-amz-server-side-encryption-everything, AES256",
    "x-amz-grant-everything, id=1",
    "x-amz-optional-object-attributes, Everything",
    "x-amz-checksum-sha3, abc",
    "x-amz-checksum-blake3, abc",
    "x-amz-api-version, 2027-01-01",
    "x-amz-write-offset, 6",
    "x-amz-object-of-next-year, 1",
    "x-amz-if, 1",
    "X-AMZ-MFA, 20899872 301749"
  })
  void headersThatAskForMoreAreRefused(String name, String value) throws Exception {
    for (String method : new String[] {"GET", "HEAD", "PUT", "DELETE", "PATCH"}) {
      TestAnswer answer = s3.send(TestS3.request(method, "/bkt/k").header(name, value));
      assertEquals("NotImplemented", answer.code(), method);
    }
    s3.refused("NotImplemented", TestS3.request("PUT", "/new").header(name, value));
    s3.refused("NotImplemented", TestS3.request("POST", "/bkt?delete").header(name, value));
    assertUnchanged();
    s3.refused("NoSuchBucket", "HEAD", "/new");
  }

  @ParameterizedTest
  @CsvSource({
    "x-amz-acl, private",
    "x-amz-acl, bucket-owner-full-control",
    "x-amz-api-version, 2006-03-01",
    "x-amz-bucket-namespace, global",
    "x-amz-bypass-governance-retention, false",
    "x-amz-cf-id, abc",
    "x-amz-id-2, abc",
    "x-amz-request-id, abc",
    "x-amz-meta-x-amz-mfa, abc",
    "x-amz-object-annotation-directive, COPY",
    "x-amz-optional-object-attributes, RestoreStatus",
    "x-amz-request-payer, requester",
    "x-amz-sdk-checksum-algorithm, CRC32",
    "x-amz-storage-class, STANDARD",
    "x-amz-tagging, ''",
    "x-amz-tagging-directive, COPY",
    "x-amz-te, append-md5",
    "x-amz-user-agent, aws-sdk-js/3",
    "x-amz-foo, bar",
    "x-amz-foo-acl, public-read",
    "x-amzn-trace-id, Root=1",
    "amz-sdk-invocation-id, abc",
    "amz-sdk-request, attempt=1",
    "x-minio-extract, false"
  })
  void harmlessHeadersAreAccepted(String name, String value) throws Exception {
    s3.ok(200, TestS3.request("PUT", "/bkt").header(name, value));
    s3.ok(200, TestS3.request("PUT", "/bkt/x").header(name, value).body("x"));
    s3.ok(200, TestS3.request("GET", "/bkt?list-type=2").header(name, value));
    assertEquals("x", s3.ok(200, TestS3.request("GET", "/bkt/x").header(name, value)).text());
    s3.ok(204, TestS3.request("DELETE", "/bkt/x").header(name, value));
  }

  @Test
  void bypassOfRetentionIsForDeletes() throws Exception {
    for (String target : new String[] {"/bkt/k?acl", "/bkt"}) {
      TestAnswer answer =
          s3.send(
              TestS3.request("GET", target).header("x-amz-bypass-governance-retention", "true"));
      assertEquals("InvalidArgument", answer.code(), target);
      assertEquals("x-amz-bypass-governance-retention", answer.detail("ArgumentName"));
    }
    assertUnchanged();
    // Where nothing is locked, there is nothing to bypass.
    s3.ok(
        204,
        TestS3.request("DELETE", "/bkt/k").header("x-amz-bypass-governance-retention", "true"));
  }

  @ParameterizedTest
  @CsvSource({
    "x-amz-tagging, a=b",
    "x-amz-object-lock-mode, GOVERNANCE",
    "x-amz-object-lock-retain-until-date, 2030-01-01T00:00:00Z",
    "x-amz-object-lock-legal-hold, ON"
  })
  void tagsAndLocksAreOnlyForNewVersions(String name, String value) throws Exception {
    for (String request :
        new String[] {
          "GET /bkt/k",
          "HEAD /bkt/k",
          "DELETE /bkt/k",
          "PUT /new",
          "POST /bkt?delete",
          "PUT /bkt/k?append&position=6",
          "PUT /bkt/k?partNumber=1&uploadId=x",
          "PUT /bkt/k?tagging"
        }) {
      String[] line = request.split(" ", -1);
      s3.refused("NotImplemented", TestS3.request(line[0], line[1]).header(name, value));
    }
    s3.refused("NoSuchBucket", "HEAD", "/new");
    assertUnchanged();
  }

  /** Requests that cannot heed them do not ignore them. */
  @ParameterizedTest
  @CsvSource({
    "x-amz-server-side-encryption, AES256",
    "x-amz-server-side-encryption, anything",
    "x-amz-server-side-encryption-aws-kms-key-id, k",
    "x-amz-server-side-encryption-context, e30=",
    "x-amz-server-side-encryption-bucket-key-enabled, true"
  })
  void encryptionIsOnlyForWrites(String name, String value) throws Exception {
    refuseEncryption(name, value, "GET /bkt/k", "HEAD /bkt/k");
  }

  private void refuseEncryption(String name, String value, String... more) throws Exception {
    for (String request :
        Stream.concat(
                Stream.of(more),
                Stream.of(
                    "DELETE /bkt/k",
                    "PUT /new",
                    "POST /bkt?delete",
                    "PUT /bkt/k?tagging",
                    "GET /bkt",
                    "PUT /bkt/k?encryption"))
            .toList()) {
      String[] line = request.split(" ", -1);
      TestAnswer answer = s3.send(TestS3.request(line[0], line[1]).header(name, value));
      assertEquals("InvalidArgument", answer.code(), request);
      if (!line[0].equals("HEAD")) {
        assertEquals(name, answer.detail("ArgumentName"), request);
      }
    }
    s3.refused("NoSuchBucket", "HEAD", "/new");
    assertUnchanged();
  }

  @ParameterizedTest
  @CsvSource({
    "x-amz-server-side-encryption-customer-algorithm, AES256",
    "x-amz-server-side-encryption-customer-key, AAAA",
    "x-amz-server-side-encryption-customer-key-md5, AAAA"
  })
  void keysOfClientsAreForObjects(String name, String value) throws Exception {
    refuseEncryption(name, value);
  }

  @ParameterizedTest
  @CsvSource({
    "x-amz-copy-source-server-side-encryption-customer-algorithm, AES256",
    "x-amz-copy-source-server-side-encryption-customer-key, AAAA",
    "x-amz-copy-source-server-side-encryption-customer-key-md5, AAAA"
  })
  void keysOfSourcesAreForCopies(String name, String value) throws Exception {
    refuseEncryption(name, value, "GET /bkt/k", "PUT /bkt/k", "PUT /bkt/k?append&position=6");
  }

  /** Policies compare what requests ask for. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "x-amz-server-side-encryption",
        "x-amz-server-side-encryption-aws-kms-key-id",
        "x-amz-server-side-encryption-customer-key"
      })
  void encryptionIsAskedForOnce(String name) throws Exception {
    TestAnswer answer =
        s3.send(
            TestS3.request("PUT", "/bkt/k").header(name, "one").header(name, "two").body("after"));
    assertEquals("InvalidArgument", answer.code());
    assertUnchanged();
  }

  @Test
  void onlyNewBucketsGetObjectLock() throws Exception {
    for (String request : new String[] {"PUT /bkt/k", "GET /bkt", "PUT /bkt?tagging"}) {
      String[] line = request.split(" ", -1);
      s3.refused(
          "NotImplemented",
          TestS3.request(line[0], line[1]).header("x-amz-bucket-object-lock-enabled", "true"));
    }
    s3.refused(
        "InvalidArgument",
        TestS3.request("PUT", "/new").header("x-amz-bucket-object-lock-enabled", "yes"));
    s3.refused("NoSuchBucket", "HEAD", "/new");
  }

  @Test
  void bothValuesOfARepeatedHeaderAreChecked() throws Exception {
    s3.refused(
        "InvalidArgument",
        TestS3.request("PUT", "/bkt/k")
            .header("x-amz-acl", "private")
            .header("X-Amz-Acl", "public-read")
            .body("after"));
    assertUnchanged();
  }

  @ParameterizedTest
  @ValueSource(strings = {"If-Modified-Since", "If-Unmodified-Since"})
  void changesAreNotConditionalOnTimes(String name) throws Exception {
    String past = "Wed, 01 Jan 2020 00:00:00 GMT";
    s3.refused("NotImplemented", TestS3.request("PUT", "/bkt/k").header(name, past).body("after"));
    s3.refused("NotImplemented", TestS3.request("DELETE", "/bkt/k").header(name, past));
    assertUnchanged();
  }

  @Test
  void copiesAreNeitherAppendedNorOfRanges() throws Exception {
    s3.ok(200, TestS3.request("PUT", "/bkt/source").body("source"));
    s3.refused(
        "NotImplemented",
        TestS3.request("PUT", "/bkt/k?append&position=6")
            .header("x-amz-copy-source", "/bkt/source"));
    s3.refused(
        "NotImplemented",
        TestS3.request("PUT", "/bkt/k")
            .header("x-amz-copy-source", "/bkt/source")
            .header("x-amz-copy-source-range", "bytes=0-1"));
    s3.refused(
        "NotImplemented",
        TestS3.request("PUT", "/bkt/k")
            .header("x-amz-copy-source", "/bkt/source")
            .header("x-amz-write-offset-bytes", "6"));
    assertUnchanged();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "x-amz-mfa=1",
        "x-amz-server-side-encryption-customer-key=AAAA",
        "x-amz-copy-source-server-side-encryption-customer-key=AAAA",
        "x-amz-expected-bucket-owner=other",
        "x-amz-meta-a%0d%0ab=c"
      })
  void unsupportedHeadersInTheQueryAreRefused(String query) throws Exception {
    s3.refused("NotImplemented", TestS3.request("PUT", "/bkt/k?" + query).body("after"));
    s3.refused("NotImplemented", "DELETE", "/bkt/k?" + query);
    assertUnchanged();
  }

  @Test
  void headersInTheQueryAreApplied() throws Exception {
    s3.ok(200, TestS3.request("PUT", "/bkt/k?x-amz-write-offset-bytes=6").body(" after"));
    assertEquals("before after", s3.ok(200, "GET", "/bkt/k").text());
    s3.ok(200, "PUT", "/bkt/copy?x-amz-copy-source=%2Fbkt%2Fk");
    assertEquals("before after", s3.ok(200, "GET", "/bkt/copy").text());
    s3.ok(200, TestS3.request("PUT", "/bkt/k?X-Amz-Meta-Color=gr%C3%BCn").body("x"));
    assertEquals("gr\u00c3\u00bcn", s3.ok(200, "GET", "/bkt/k").header("x-amz-meta-color"));
    s3.refused(
        "InvalidArgument",
        TestS3.request("PUT", "/bkt/k?x-amz-meta-a=1").header("x-amz-meta-a", "2").body("x"));
    s3.refused("InvalidArgument", "PUT", "/bkt/k?x-amz-meta-a=%0d%0ax:");
  }

  /** The JavaScript SDK signs the checksum of a body that it does not have yet. */
  @Test
  void checksumsInTheQueryAreNotCompared() throws Exception {
    String query = "x-amz-checksum-crc32=AAAAAA%3D%3D&x-amz-sdk-checksum-algorithm=CRC32";
    s3.ok(200, TestS3.request("PUT", "/bkt/k?" + query).body("x"));
    assertEquals("x", s3.ok(200, "GET", "/bkt/k?x-amz-checksum-mode=ENABLED").text());
  }

  @Test
  void aclDocumentBesideACannedAclIsNotIgnored() throws Exception {
    s3.ok(200, TestS3.request("PUT", "/bkt/k?acl").header("x-amz-acl", "private"));
    s3.refused(
        "InvalidRequest",
        TestS3.request("PUT", "/bkt/k?acl").header("x-amz-acl", "private").body("<Acl/>"));
  }

  private void assertUnchanged() throws Exception {
    TestAnswer answer = s3.ok(200, "GET", "/bkt/k");
    assertEquals("before", answer.text());
    assertEquals("b", answer.header("x-amz-meta-a"));
    assertTrue(s3.ok(200, "GET", "/bkt").text().contains("<Key>k</Key>"));
  }
}
