package dev.ashlar.gateway.operation;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.gateway.access.acl.Grantee;
import dev.ashlar.gateway.xml.XmlReader.Element;
import dev.ashlar.protocol.message.AccountRow;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.PutAccount;
import dev.ashlar.protocol.message.ResultCode;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** ACLs of buckets and objects, by the requests of several accounts. */
class AclTest {
  private static final String OTHER = "b".repeat(64);
  private static final String THIRD = "c".repeat(64);
  private static final String ANYBODY = "anonymous";
  private static final String ALL_USERS = Grantee.Group.ALL_USERS.uri();
  private static final String AUTHENTICATED = Grantee.Group.AUTHENTICATED_USERS.uri();

  private final TestS3 s3 = new TestS3();

  @BeforeEach
  void storeSomething() throws Exception {
    account("222222222222", OTHER, "Other", "other@x.example");
    account("333333333333", THIRD, "Third", "");
    s3.ok(200, "PUT", "/bkt");
    s3.ok(200, TestS3.request("PUT", "/bkt/k").body("data"));
  }

  private void account(String id, String canonicalId, String name, String email) throws Exception {
    AccountRow row =
        AccountRow.newBuilder()
            .setId(id)
            .setCanonicalId(canonicalId)
            .setName(name)
            .setEmail(email)
            .build();
    assertEquals(
        ResultCode.OK,
        s3.metadata
            .submit(Command.newBuilder().setPutAccount(PutAccount.newBuilder().setAccount(row)))
            .getCode());
  }

  private static TestRequest as(String who, String method, String uri) {
    return TestS3.request(method, uri).header("x-test-owner", who);
  }

  private void canned(String uri, String acl) throws Exception {
    s3.ok(200, TestS3.request("PUT", uri).header("x-amz-acl", acl));
  }

  /** Grants as "grantee PERMISSION". */
  private List<String> grants(String uri) throws Exception {
    return grants(s3.ok(200, "GET", uri));
  }

  private static List<String> grants(TestAnswer answer) throws Exception {
    List<String> grants = new ArrayList<>();
    for (Element grant :
        Objects.requireNonNull(answer.xml().child("AccessControlList")).children()) {
      Element grantee = Objects.requireNonNull(grant.child("Grantee"));
      String id = grantee.childText("ID");
      grants.add(
          (id == null ? grantee.childText("URI") : id) + " " + grant.childText("Permission"));
    }
    return grants;
  }

  private static String document(String... grants) {
    StringBuilder xml = new StringBuilder("<AccessControlPolicy><Owner><ID>owner</ID></Owner>");
    xml.append("<AccessControlList>");
    for (int i = 0; i < grants.length; i += 3) {
      xml.append("<Grant><Grantee xsi:type=\"any\" xmlns:xsi=\"x\">")
          .append("<%s>%s</%s>".formatted(grants[i], grants[i + 1], grants[i]))
          .append("</Grantee><Permission>" + grants[i + 2] + "</Permission></Grant>");
    }
    return xml.append("</AccessControlList></AccessControlPolicy>").toString();
  }

  @ParameterizedTest
  @CsvSource({
    "private, ''",
    "public-read, ALL READ",
    "public-read-write, ALL READ;ALL WRITE",
    "authenticated-read, AUTH READ",
    "bucket-owner-read, ''",
    "bucket-owner-full-control, ''",
    "aws-exec-read, ''"
  })
  void cannedAcls(String acl, String expected) throws Exception {
    List<String> wanted = new ArrayList<>();
    for (String grant : expected.isEmpty() ? new String[0] : expected.split(";", -1)) {
      wanted.add(grant.replace("ALL ", ALL_USERS + " ").replace("AUTH ", AUTHENTICATED + " "));
    }
    wanted.add("owner FULL_CONTROL");
    for (String uri : List.of("/bkt?acl", "/bkt/k?acl")) {
      canned(uri, acl);
      assertEquals(wanted, grants(uri));
    }
    s3.ok(200, TestS3.request("PUT", "/bkt/new").header("x-amz-acl", acl).body("x"));
    assertEquals(wanted, grants("/bkt/new?acl"));
    s3.ok(
        200,
        TestS3.request("PUT", "/bkt/copy")
            .header("x-amz-copy-source", "/bkt/k")
            .header("x-amz-acl", acl));
    assertEquals(wanted, grants("/bkt/copy?acl"));
    String upload =
        s3.ok(200, TestS3.request("POST", "/bkt/m?uploads").header("x-amz-acl", acl))
            .element("UploadId");
    String part =
        s3.ok(200, TestS3.request("PUT", "/bkt/m?partNumber=1&uploadId=" + upload).body("x"))
            .header("ETag");
    s3.ok(
        200,
        TestS3.request("POST", "/bkt/m?uploadId=" + upload)
            .body(
                "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>"
                    + part
                    + "</ETag></Part></CompleteMultipartUpload>"));
    assertEquals(wanted, grants("/bkt/m?acl"));
    s3.ok(200, TestS3.request("PUT", "/new").header("x-amz-acl", acl));
    assertEquals(wanted, grants("/new?acl"));
  }

  @Test
  void anAclIsNotCopied() throws Exception {
    canned("/bkt/k?acl", "public-read");
    s3.ok(200, TestS3.request("PUT", "/bkt/copy").header("x-amz-copy-source", "/bkt/k"));
    assertEquals(List.of("owner FULL_CONTROL"), grants("/bkt/copy?acl"));
    s3.refused("AccessDenied", as(ANYBODY, "GET", "/bkt/copy"));
    s3.ok(200, TestS3.request("PUT", "/bkt/k").body("again"));
    s3.refused("AccessDenied", as(ANYBODY, "GET", "/bkt/k"));
  }

  @Test
  void whatAclsOfBucketsGrant() throws Exception {
    canned("/bkt?acl", "public-read");
    s3.ok(200, as(ANYBODY, "GET", "/bkt"));
    s3.ok(200, as(OTHER, "GET", "/bkt?versions"));
    s3.ok(200, as(OTHER, "HEAD", "/bkt"));
    s3.refused("AccessDenied", as(ANYBODY, "GET", "/bkt/k"));
    s3.refused("AccessDenied", as(ANYBODY, "GET", "/bkt?acl"));
    s3.refused("AccessDenied", as(ANYBODY, "PUT", "/bkt/x"));
    s3.refused("AccessDenied", as(ANYBODY, "DELETE", "/bkt"));
    canned("/bkt?acl", "public-read-write");
    s3.ok(200, as(ANYBODY, "PUT", "/bkt/x").body("x"));
    s3.ok(200, as(OTHER, "PUT", "/bkt/y").header("x-amz-acl", "public-read").body("y"));
    assertEquals("y", s3.ok(200, as(ANYBODY, "GET", "/bkt/y")).text());
    s3.ok(204, as(ANYBODY, "DELETE", "/bkt/k"));
    canned("/bkt?acl", "authenticated-read");
    s3.refused("AccessDenied", as(ANYBODY, "GET", "/bkt"));
    s3.ok(200, as(OTHER, "GET", "/bkt"));
  }

  @Test
  void whatAclsOfObjectsGrant() throws Exception {
    s3.ok(
        200,
        TestS3.request("PUT", "/bkt/k?acl")
            .header("x-amz-grant-read", "id=\"" + OTHER + "\"")
            .header("x-amz-grant-write-acp", "id=" + THIRD));
    assertEquals("data", s3.ok(200, as(OTHER, "GET", "/bkt/k")).text());
    s3.ok(200, as(OTHER, "HEAD", "/bkt/k"));
    s3.refused("AccessDenied", as(OTHER, "GET", "/bkt/k?acl"));
    s3.refused("AccessDenied", as(OTHER, "PUT", "/bkt/k?acl").header("x-amz-acl", "private"));
    s3.refused("AccessDenied", as(OTHER, "PUT", "/bkt/k"));
    s3.refused("AccessDenied", as(OTHER, "DELETE", "/bkt/k"));
    s3.refused("AccessDenied", as(THIRD, "GET", "/bkt/k"));
    s3.ok(200, as(THIRD, "PUT", "/bkt/k?acl").header("x-amz-grant-full-control", "id=" + THIRD));
    s3.ok(200, as(THIRD, "GET", "/bkt/k"));
    assertEquals(
        List.of(THIRD + " FULL_CONTROL"), grants(s3.ok(200, as(THIRD, "GET", "/bkt/k?acl"))));
    s3.refused("AccessDenied", as(OTHER, "GET", "/bkt/k"));
    // The root of the owner has everything of its account.
    s3.ok(200, "GET", "/bkt/k");
    s3.ok(200, "GET", "/bkt/k?acl");
  }

  @Test
  void anAclIsNoNewVersion() throws Exception {
    TestAnswer before = s3.ok(200, "HEAD", "/bkt/k");
    canned("/bkt/k?acl", "public-read");
    TestAnswer after = s3.ok(200, "HEAD", "/bkt/k");
    assertEquals(before.header("Last-Modified"), after.header("Last-Modified"));
    assertEquals(before.header("ETag"), after.header("ETag"));
  }

  @Test
  void theAclOfAnOlderNullVersionIsReplaced() throws Exception {
    canned("/bkt/k?acl", "public-read");
    s3.ok(
        200,
        TestS3.request("PUT", "/bkt?versioning")
            .body("<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>"));
    s3.ok(200, TestS3.request("PUT", "/bkt/k").body("newer"));
    s3.ok(200, as(ANYBODY, "GET", "/bkt/k?versionId=null"));
    canned("/bkt/k?acl&versionId=null", "private");
    s3.refused("AccessDenied", as(ANYBODY, "GET", "/bkt/k?versionId=null"));
  }

  @Test
  void writersOwnWhatTheyWrite() throws Exception {
    canned("/bkt?acl", "public-read-write");
    s3.ok(200, as(OTHER, "PUT", "/bkt/theirs").body("x"));
    s3.refused("AccessDenied", "GET", "/bkt/theirs");
    s3.refused("AccessDenied", "GET", "/bkt/theirs?acl");
    TestAnswer acl = s3.ok(200, as(OTHER, "GET", "/bkt/theirs?acl"));
    assertEquals(List.of(OTHER), acl.each("Owner", "ID"));
    assertEquals(List.of(OTHER + " FULL_CONTROL"), grants(acl));
    s3.ok(200, as(OTHER, "PUT", "/bkt/theirs").header("x-amz-acl", "bucket-owner-read").body("x"));
    s3.ok(200, "GET", "/bkt/theirs");
    s3.refused("AccessDenied", "GET", "/bkt/theirs?acl");
    s3.ok(
        200, as(OTHER, "PUT", "/bkt/theirs?acl").header("x-amz-acl", "bucket-owner-full-control"));
    assertEquals(List.of(OTHER + " FULL_CONTROL", "owner FULL_CONTROL"), grants("/bkt/theirs?acl"));
    // The owner of the bucket deletes whatever is in it.
    s3.ok(204, "DELETE", "/bkt/theirs");
    // A copy takes the bytes, not the owner.
    s3.ok(200, as(OTHER, "PUT", "/bkt/theirs").body("x"));
    s3.refused(
        "AccessDenied",
        TestS3.request("PUT", "/bkt/copy").header("x-amz-copy-source", "/bkt/theirs"));
  }

  @Test
  void ownersOfVersionsAreNamed() throws Exception {
    canned("/bkt?acl", "public-read-write");
    s3.ok(
        200,
        TestS3.request("PUT", "/bkt?versioning")
            .body("<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>"));
    s3.ok(200, as(OTHER, "PUT", "/bkt/k").body("theirs"));
    s3.ok(204, as(OTHER, "DELETE", "/bkt/k"));
    String page = s3.ok(200, "GET", "/bkt?versions").text();
    String named = "<Owner><ID>%s</ID><DisplayName>%s</DisplayName></Owner>";
    assertEquals(2, page.split(named.formatted(OTHER, "Other"), -1).length, page);
    // A marker belongs to the bucket.
    assertEquals(3, page.split(named.formatted("owner", "Owner"), -1).length, page);
  }

  @Test
  void documentsAreRead() throws Exception {
    s3.ok(
        200,
        TestS3.request("PUT", "/bkt/k?acl")
            .body(
                document(
                    "ID",
                    OTHER,
                    "READ",
                    "EmailAddress",
                    "OTHER@x.example",
                    "READ_ACP",
                    "URI",
                    ALL_USERS,
                    "READ",
                    "URI",
                    ALL_USERS,
                    "READ")));
    assertEquals(
        List.of(ALL_USERS + " READ", OTHER + " READ", OTHER + " READ_ACP"),
        grants(s3.ok(200, "GET", "/bkt/k?acl")));
    s3.ok(200, TestS3.request("PUT", "/bkt/k?acl").body(document()));
    assertEquals(List.of(), grants("/bkt/k?acl"));
    s3.ok(200, "GET", "/bkt/k");
  }

  @ParameterizedTest
  @CsvSource({
    "MalformedACLError, <AccessControlPolicy/>",
    "MalformedACLError, <Anything/>",
    "MalformedACLError, nothing",
    "MalformedACLError, <AccessControlPolicy><Owner><ID>owner</ID></Owner></AccessControlPolicy>",
    "MalformedACLError, <AccessControlPolicy><AccessControlList/></AccessControlPolicy>",
    "AccessDenied, <AccessControlPolicy><Owner><ID>x</ID></Owner><AccessControlList/></AccessControlPolicy>"
  })
  void whatIsNoAclIsRefused(String code, String text) throws Exception {
    for (String uri : List.of("/bkt?acl", "/bkt/k?acl")) {
      s3.refused(code, TestS3.request("PUT", uri).body(text));
      assertEquals(List.of("owner FULL_CONTROL"), grants(uri));
    }
  }

  @ParameterizedTest
  @CsvSource({
    "InvalidArgument, ID, ffff, READ",
    "InvalidArgument, URI, http://x.example, READ",
    "UnresolvableGrantByEmailAddress, EmailAddress, nobody@x.example, READ",
    "MalformedACLError, ID, owner, EVERYTHING",
    "MalformedACLError, Name, owner, READ"
  })
  void granteesHaveToExist(String code, String form, String grantee, String permission)
      throws Exception {
    s3.refused(code, TestS3.request("PUT", "/bkt/k?acl").body(document(form, grantee, permission)));
    assertEquals(List.of("owner FULL_CONTROL"), grants("/bkt/k?acl"));
  }

  @Test
  void anAclHasAtMostAHundredGrants() throws Exception {
    List<String> grants = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      grants.addAll(List.of("ID", OTHER, "READ"));
    }
    s3.ok(200, TestS3.request("PUT", "/bkt?acl").body(document(grants.toArray(new String[0]))));
    grants.addAll(List.of("ID", OTHER, "READ"));
    s3.refused(
        "MalformedACLError",
        TestS3.request("PUT", "/bkt?acl").body(document(grants.toArray(new String[0]))));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "x-amz-acl|everything",
        "x-amz-grant-read|owner",
        "x-amz-grant-read|name=owner",
        "x-amz-grant-read|id=\"ffff\"",
        "x-amz-grant-read|uri=\"http://x.example\"",
        "x-amz-grant-read|id=\"owner\" id=\"owner\""
      })
  void headersAreChecked(String name, String value) throws Exception {
    for (String uri : List.of("/bkt?acl", "/bkt/k?acl", "/bkt/k", "/new")) {
      s3.refused("InvalidArgument", TestS3.request("PUT", uri).header(name, value));
    }
    assertEquals("data", s3.ok(200, "GET", "/bkt/k").text());
    s3.refused("NoSuchBucket", "HEAD", "/new");
  }

  @ParameterizedTest
  @ValueSource(strings = {"x%sx", "id=%sx\"", "id=\"%s"})
  @Timeout(5)
  void longHeadersAreRefusedQuickly(String form) throws Exception {
    String value = form.formatted(" ".repeat(60_000));
    s3.refused(
        "InvalidArgument", TestS3.request("PUT", "/bkt/k?acl").header("x-amz-grant-read", value));
  }

  @Test
  void aDocumentAndHeadersContradictEachOther() throws Exception {
    for (String uri : List.of("/bkt?acl", "/bkt/k?acl")) {
      s3.refused(
          "InvalidRequest",
          TestS3.request("PUT", uri).header("x-amz-acl", "private").body(document()));
      assertEquals(List.of("owner FULL_CONTROL"), grants(uri));
    }
  }

  @Test
  void headersNameSeveralGrantees() throws Exception {
    s3.ok(
        200,
        TestS3.request("PUT", "/bkt?acl")
            .header(
                "x-amz-grant-write",
                "id=\"" + OTHER + "\", emailAddress=\"other@x.example\",uri=" + ALL_USERS));
    assertEquals(List.of(ALL_USERS + " WRITE", OTHER + " WRITE"), grants("/bkt?acl"));
    s3.refused(
        "InvalidRequest",
        TestS3.request("PUT", "/bkt?acl")
            .header("x-amz-acl", "private")
            .header("x-amz-grant-write", "id=" + OTHER));
  }

  @Test
  void anonymousReadersChooseNoHeadersOfTheAnswer() throws Exception {
    canned("/bkt/k?acl", "public-read");
    s3.ok(200, "GET", "/bkt/k?response-content-type=text/html");
    s3.refused("InvalidRequest", as(ANYBODY, "GET", "/bkt/k?response-content-type=text/html"));
  }
}
