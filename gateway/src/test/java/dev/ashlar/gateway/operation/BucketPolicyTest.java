package dev.ashlar.gateway.operation;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Policies, public access blocks and ownership controls of buckets, by the requests of several
 * accounts.
 */
class BucketPolicyTest {
  private static final String OTHER = "other";
  private static final String ANYBODY = "anonymous";

  private final TestS3 s3 = new TestS3();

  @BeforeEach
  void storeSomething() throws Exception {
    s3.ok(200, "PUT", "/bkt");
    s3.ok(200, TestS3.request("PUT", "/bkt/k").body("data"));
  }

  private static TestRequest as(String who, String method, String uri) {
    return TestS3.request(method, uri).header("x-test-owner", who);
  }

  private static String account(String owner) {
    return TestAuthenticator.account(owner);
  }

  private static String statement(String effect, String principal, String action) {
    return "{'Effect':'%s','Principal':%s,'Action':%s,'Resource':['arn:aws:s3:::bkt','arn:aws:s3:::bkt/*']}"
        .formatted(effect, principal, action)
        .replace('\'', '"');
  }

  private static String policy(String... statements) {
    return "{\"Version\":\"2012-10-17\",\"Statement\":[" + String.join(",", statements) + "]}";
  }

  private void put(String policy) throws Exception {
    s3.ok(204, TestS3.request("PUT", "/bkt?policy").body(policy));
  }

  @Test
  void aPolicyIsReturnedAsItWasPutAndRemoved() throws Exception {
    s3.refused("NoSuchBucketPolicy", "GET", "/bkt?policy");
    s3.refused("NoSuchBucketPolicy", "GET", "/bkt?policyStatus");
    s3.ok(204, "DELETE", "/bkt?policy");
    String policy = " " + policy(statement("Allow", "'*'", "'s3:GetObject'")) + "\n";
    put(policy);
    TestAnswer answer = s3.ok(200, "GET", "/bkt?policy");
    assertEquals(policy, answer.text());
    assertEquals("application/json", answer.header("Content-Type"));
    assertEquals("true", s3.ok(200, "GET", "/bkt?policyStatus").element("IsPublic"));
    put(policy(statement("Allow", "{'AWS':'" + account(OTHER) + "'}", "'s3:GetObject'")));
    assertEquals("false", s3.ok(200, "GET", "/bkt?policyStatus").element("IsPublic"));
    s3.ok(204, "DELETE", "/bkt?policy");
    s3.refused("NoSuchBucketPolicy", "GET", "/bkt?policy");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "{}",
        "nothing",
        "{\"Statement\":[]}",
        "{\"Statement\":[{\"Effect\":\"Allow\",\"Principal\":\"*\",\"Action\":\"s3:GetObject\",\"Resource\":\"arn:aws:s3:::foreign/*\"}]}",
        "{\"Statement\":[{\"Effect\":\"Allow\",\"Principal\":\"bob\",\"Action\":\"s3:GetObject\",\"Resource\":\"arn:aws:s3:::bkt/*\"}]}",
        "{\"Statement\":[{\"Effect\":\"Allow\",\"Principal\":\"*\",\"Action\":\"s3:Nothing\",\"Resource\":\"arn:aws:s3:::bkt/*\"}]}",
        "{\"Statement\":[{\"Effect\":\"Allow\",\"Action\":\"s3:GetObject\",\"Resource\":\"arn:aws:s3:::bkt/*\"}]}"
      })
  void whatIsNoPolicyIsRefused(String text) throws Exception {
    s3.refused("MalformedPolicy", TestS3.request("PUT", "/bkt?policy").body(text));
    s3.refused("NoSuchBucketPolicy", "GET", "/bkt?policy");
  }

  @Test
  void aPolicyHasAtMost20KiB() throws Exception {
    String policy = policy(statement("Allow", "'*'", "'s3:GetObject'"));
    String largest = policy + " ".repeat(20_480 - policy.length());
    put(largest);
    s3.refused("MalformedPolicy", TestS3.request("PUT", "/bkt?policy").body(largest + " "));
  }

  @Test
  void aPolicyCountsFromItsAnswerOnUntilItIsRemoved() throws Exception {
    s3.refused("AccessDenied", as(ANYBODY, "GET", "/bkt/k"));
    put(policy(statement("Allow", "'*'", "'s3:GetObject'")));
    assertEquals("data", s3.ok(200, as(ANYBODY, "GET", "/bkt/k")).text());
    assertEquals("data", s3.ok(200, as(OTHER, "GET", "/bkt/k")).text());
    s3.refused("AccessDenied", as(ANYBODY, "GET", "/bkt/none"));
    s3.refused("AccessDenied", as(ANYBODY, "GET", "/bkt"));
    s3.refused("AccessDenied", as(ANYBODY, "PUT", "/bkt/k"));
    s3.refused("AccessDenied", as(OTHER, "GET", "/bkt?policy"));
    put(policy(statement("Allow", "'*'", "['s3:GetObject','s3:ListBucket']")));
    s3.refused("NoSuchKey", as(ANYBODY, "GET", "/bkt/none"));
    s3.ok(204, "DELETE", "/bkt?policy");
    s3.refused("AccessDenied", as(ANYBODY, "GET", "/bkt/k"));
  }

  @Test
  void aPolicyOfADeletedBucketDoesNotComeBack() throws Exception {
    put(policy(statement("Allow", "'*'", "'s3:*'")));
    s3.ok(200, as(ANYBODY, "GET", "/bkt"));
    s3.ok(204, as(ANYBODY, "DELETE", "/bkt/k"));
    s3.ok(204, "DELETE", "/bkt");
    s3.refused("NoSuchBucket", as(ANYBODY, "GET", "/bkt"));
    s3.ok(200, "PUT", "/bkt");
    s3.refused("AccessDenied", as(ANYBODY, "GET", "/bkt"));
  }

  @Test
  void theOwnerIsDeniedButCanRepairThePolicy() throws Exception {
    put(policy(statement("Deny", "'*'", "'s3:*'")));
    s3.refused("AccessDenied", "GET", "/bkt/k");
    s3.refused("AccessDenied", "GET", "/bkt");
    s3.refused("AccessDenied", "GET", "/bkt?acl");
    s3.ok(200, "GET", "/bkt?policy");
    put(policy(statement("Deny", "'*'", "'s3:GetObject'")));
    s3.ok(200, "GET", "/bkt");
    s3.ok(204, "DELETE", "/bkt?policy");
    s3.ok(200, "GET", "/bkt/k");
  }

  @Test
  void nobodyOfAnotherAccountSeesOrReplacesThePolicy() throws Exception {
    put(policy(statement("Allow", "'*'", "'s3:*'")));
    String shutOut = policy(statement("Deny", "'*'", "'s3:*'"));
    for (String who : List.of(OTHER, ANYBODY)) {
      s3.ok(200, as(who, "GET", "/bkt/k"));
      s3.refused("AccessDenied", as(who, "GET", "/bkt?policy"));
      s3.refused("AccessDenied", as(who, "DELETE", "/bkt?policy"));
      s3.refused(
          "AccessDenied",
          as(who, "PUT", "/bkt?policy")
              .header("x-amz-confirm-remove-self-bucket-access", "true")
              .body(shutOut));
    }
    String user = statement("Allow", "'*'", "'s3:*'").replace("\"Principal\":\"*\",", "");
    s3.ok(200, TestS3.request("GET", "/bkt?policy").header("x-test-policy", policy(user)));
    s3.ok(204, "DELETE", "/bkt?policy");
  }

  @Test
  void whoConfirmsIsShutOutForGood() throws Exception {
    s3.ok(
        204,
        TestS3.request("PUT", "/bkt?policy")
            .header("x-amz-confirm-remove-self-bucket-access", "true")
            .body(policy(statement("Deny", "'*'", "'s3:*'"))));
    s3.refused("AccessDenied", "GET", "/bkt?policy");
    s3.refused("AccessDenied", "DELETE", "/bkt?policy");
  }

  @Test
  void principalsAreAccountsArnsAndCanonicalUsers() throws Exception {
    for (String principal :
        List.of(
            "{'AWS':'" + account(OTHER) + "'}",
            "{'AWS':'arn:aws:iam::" + account(OTHER) + ":root'}",
            "{'CanonicalUser':'" + OTHER + "'}")) {
      put(policy(statement("Allow", principal, "'s3:GetObject'")));
      s3.ok(200, as(OTHER, "GET", "/bkt/k"));
      s3.refused("AccessDenied", as("third", "GET", "/bkt/k"));
      s3.refused("AccessDenied", as(ANYBODY, "GET", "/bkt/k"));
    }
    put(
        policy(
            statement("Allow", "'*'", "'s3:GetObject'"),
            statement("Deny", "{'AWS':'" + account("owner") + "'}", "'s3:GetObject'")
                .replace("\"Principal\"", "\"NotPrincipal\"")));
    s3.ok(200, "GET", "/bkt/k");
    s3.refused("AccessDenied", as(OTHER, "GET", "/bkt/k"));
    s3.refused("AccessDenied", as(ANYBODY, "GET", "/bkt/k"));
  }

  @Test
  void otherAccountsWriteAndDeleteIfThePolicySaysSo() throws Exception {
    put(
        policy(
            statement(
                "Allow",
                "{'AWS':'" + account(OTHER) + "'}",
                "['s3:PutObject','s3:DeleteObject']")));
    s3.ok(200, as(OTHER, "PUT", "/bkt/new").body("x"));
    // What it writes is its own, and so is the ACL; the policy can forbid that.
    s3.ok(200, as(OTHER, "PUT", "/bkt/new").header("x-amz-acl", "public-read").body("x"));
    s3.ok(200, as(ANYBODY, "GET", "/bkt/new"));
    s3.ok(204, as(OTHER, "DELETE", "/bkt/k"));
    s3.refused("AccessDenied", as(OTHER, "GET", "/bkt/k"));
    s3.refused("AccessDenied", as(OTHER, "DELETE", "/bkt"));
  }

  @Test
  void parametersOfOtherOperationsMeetNoCondition() throws Exception {
    String condition = ",'Condition':{'StringLike':{'%s':'%s'}}}".replace('\'', '"');
    String allow = statement("Allow", "'*'", "['s3:GetObject','s3:ListBucket']");
    String onPrefix = condition.formatted("s3:prefix", "public/*");
    put(policy(allow.substring(0, allow.length() - 1) + onPrefix));
    s3.ok(200, as(ANYBODY, "GET", "/bkt?prefix=public/"));
    s3.refused("AccessDenied", as(ANYBODY, "GET", "/bkt"));
    s3.refused("AccessDenied", as(ANYBODY, "GET", "/bkt/k?prefix=public/"));
    // Who may list a prefix learns what is missing there, and nowhere else.
    s3.refused("NoSuchKey", as(ANYBODY, "GET", "/bkt/public/none"));
    s3.refused("AccessDenied", as(ANYBODY, "GET", "/bkt/none"));
    s3.refused("AccessDenied", as(ANYBODY, "GET", "/bkt/none?prefix=public/"));
    String onAcl = condition.formatted("s3:x-amz-acl", "private");
    put(policy(allow.substring(0, allow.length() - 1) + onAcl));
    s3.refused("AccessDenied", as(ANYBODY, "GET", "/bkt/k").header("x-amz-acl", "private"));
    s3.refused("AccessDenied", as(ANYBODY, "GET", "/bkt/k?x-amz-acl=private"));
  }

  @Test
  void headersInTheQueryCountForConditions() throws Exception {
    String allow = statement("Allow", "'*'", "'s3:PutObject'");
    String deny = statement("Deny", "'*'", "'s3:PutObject'");
    String onAcl =
        ",'Condition':{'StringEquals':{'s3:x-amz-acl':'public-read'}}}".replace('\'', '"');
    put(policy(allow, deny.substring(0, deny.length() - 1) + onAcl));
    s3.ok(200, as(OTHER, "PUT", "/bkt/new").body("x"));
    s3.ok(200, as(OTHER, "PUT", "/bkt/new").header("x-amz-acl", "private").body("x"));
    s3.refused(
        "AccessDenied", as(OTHER, "PUT", "/bkt/new").header("X-AMZ-ACL", "public-read").body("x"));
    for (String query : List.of("x-amz-acl", "X-Amz-Acl", "x-amz-%61cl")) {
      s3.refused("AccessDenied", as(OTHER, "PUT", "/bkt/new?" + query + "=public-read").body("x"));
    }
  }

  @Test
  void oneKeyIsNotAnother() throws Exception {
    put(
        policy(
            statement("Allow", "'*'", "'s3:GetObject'")
                .replace("arn:aws:s3:::bkt/*", "arn:aws:s3:::bkt/public/*")));
    for (String key :
        List.of("public/k", "Public/k", "publicly/k", "secret/public/k", "public/../k")) {
      s3.ok(200, TestS3.request("PUT", "/bkt/" + key).body("x"));
    }
    s3.ok(200, as(ANYBODY, "GET", "/bkt/public/k"));
    s3.ok(200, as(ANYBODY, "GET", "/bkt/public%2Fk"));
    // A key is a key: dots in it are not resolved, here or in the policy.
    s3.ok(200, as(ANYBODY, "GET", "/bkt/public/../k"));
    for (String uri :
        List.of("Public/k", "publicly/k", "secret/public/k", "k", "./public/k", "/public/k")) {
      s3.refused("AccessDenied", as(ANYBODY, "GET", "/bkt/" + uri));
    }
  }

  @Test
  void deletionsAreDecidedKeyByKey() throws Exception {
    s3.ok(200, TestS3.request("PUT", "/bkt/mine").body("x"));
    put(
        policy(
            statement("Allow", "'*'", "'s3:DeleteObject'")
                .replace("arn:aws:s3:::bkt/*", "arn:aws:s3:::bkt/k")));
    TestAnswer answer =
        s3.ok(
            200,
            as(ANYBODY, "POST", "/bkt?delete")
                .header("Content-MD5", "not looked at here")
                .body(
                    "<Delete><Object><Key>k</Key></Object><Object><Key>mine</Key></Object></Delete>"));
    assertEquals(List.of("k"), answer.each("Deleted", "Key"));
    assertEquals(List.of("mine"), answer.each("Error", "Key"));
    assertEquals(List.of("AccessDenied"), answer.each("Error", "Code"));
    s3.ok(200, "GET", "/bkt/mine");
  }

  @Test
  void theSourceOfACopyNeedsItsOwnRight() throws Exception {
    s3.ok(200, as(OTHER, "PUT", "/dst"));
    String[] copies = {"/dst/copy", "/dst/m?partNumber=1&uploadId="};
    String upload = s3.ok(200, as(OTHER, "POST", "/dst/m?uploads")).element("UploadId");
    for (String copy : copies) {
      String uri = copy.endsWith("=") ? copy + upload : copy;
      put(policy(statement("Allow", "'*'", "['s3:PutObject','s3:ListBucket']")));
      s3.refused("AccessDenied", as(OTHER, "PUT", uri).header("x-amz-copy-source", "/bkt/k"));
      put(policy(statement("Allow", "'*'", "'s3:GetObject'")));
      s3.ok(200, as(OTHER, "PUT", uri).header("x-amz-copy-source", "/bkt/k"));
      // Who may read the source may not write beside it.
      s3.refused(
          "AccessDenied", as(OTHER, "PUT", "/bkt/copy").header("x-amz-copy-source", "/bkt/k"));
      s3.ok(204, "DELETE", "/bkt?policy");
    }
  }

  // ---- The public access block ----

  private static String block(String... flags) {
    StringBuilder xml = new StringBuilder("<PublicAccessBlockConfiguration>");
    for (String flag : flags) {
      xml.append("<%s>true</%s>".formatted(flag, flag));
    }
    return xml.append("</PublicAccessBlockConfiguration>").toString();
  }

  private void block(TestS3 on, String... flags) throws Exception {
    on.ok(200, TestS3.request("PUT", "/bkt?publicAccessBlock").body(block(flags)));
  }

  @Test
  void aBlockIsReturnedAndRemoved() throws Exception {
    s3.refused("NoSuchPublicAccessBlockConfiguration", "GET", "/bkt?publicAccessBlock");
    block(s3);
    assertEquals("false", s3.ok(200, "GET", "/bkt?publicAccessBlock").element("BlockPublicAcls"));
    block(s3, "IgnorePublicAcls");
    TestAnswer answer = s3.ok(200, "GET", "/bkt?publicAccessBlock");
    assertEquals("true", answer.element("IgnorePublicAcls"));
    assertEquals("false", answer.element("RestrictPublicBuckets"));
    s3.ok(204, "DELETE", "/bkt?publicAccessBlock");
    s3.refused("NoSuchPublicAccessBlockConfiguration", "GET", "/bkt?publicAccessBlock");
    s3.refused("MalformedXML", TestS3.request("PUT", "/bkt?publicAccessBlock").body("<Anything/>"));
  }

  @Test
  void publicPoliciesAreBlocked() throws Exception {
    block(s3, "BlockPublicPolicy");
    String open = policy(statement("Allow", "'*'", "'s3:GetObject'"));
    s3.refused("AccessDenied", TestS3.request("PUT", "/bkt?policy").body(open));
    put(policy(statement("Allow", "{'AWS':'" + account(OTHER) + "'}", "'s3:GetObject'")));
    s3.ok(204, "DELETE", "/bkt?publicAccessBlock");
    put(open);
    s3.ok(200, as(ANYBODY, "GET", "/bkt/k"));
    block(s3, "RestrictPublicBuckets");
    s3.refused("AccessDenied", as(ANYBODY, "GET", "/bkt/k"));
    s3.refused("AccessDenied", as(OTHER, "GET", "/bkt/k"));
    s3.ok(200, "GET", "/bkt/k");
  }

  @Test
  void publicAclsAreBlockedOrIgnored() throws Exception {
    s3.ok(200, TestS3.request("PUT", "/bkt/k?acl").header("x-amz-acl", "public-read"));
    s3.ok(200, TestS3.request("PUT", "/bkt?acl").header("x-amz-acl", "public-read"));
    s3.ok(200, as(ANYBODY, "GET", "/bkt/k"));
    s3.ok(200, as(ANYBODY, "GET", "/bkt"));
    block(s3, "IgnorePublicAcls");
    s3.refused("AccessDenied", as(ANYBODY, "GET", "/bkt/k"));
    s3.refused("AccessDenied", as(ANYBODY, "GET", "/bkt"));
    block(s3, "BlockPublicAcls");
    s3.ok(200, as(ANYBODY, "GET", "/bkt/k"));
    for (String uri : List.of("/bkt/k?acl", "/bkt?acl", "/bkt/k", "/bkt/new")) {
      for (String acl : List.of("public-read", "public-read-write", "authenticated-read")) {
        s3.refused("AccessDenied", TestS3.request("PUT", uri).header("x-amz-acl", acl));
      }
      s3.refused(
          "AccessDenied",
          TestS3.request("PUT", uri)
              .header(
                  "x-amz-grant-read", "uri=\"http://acs.amazonaws.com/groups/global/AllUsers\""));
      s3.ok(200, TestS3.request("PUT", uri).header("x-amz-acl", "private"));
    }
    s3.refused(
        "AccessDenied",
        TestS3.request("POST", "/bkt/m?uploads").header("x-amz-acl", "public-read"));
    s3.refused(
        "AccessDenied",
        TestS3.request("PUT", "/bkt/copy")
            .header("x-amz-copy-source", "/bkt/k")
            .header("x-amz-acl", "public-read"));
  }

  // ---- The ownership controls ----

  private static String ownership(String rule) {
    return "<OwnershipControls><Rule><ObjectOwnership>"
        + rule
        + "</ObjectOwnership></Rule></OwnershipControls>";
  }

  private void own(String rule) throws Exception {
    s3.ok(200, TestS3.request("PUT", "/bkt?ownershipControls").body(ownership(rule)));
  }

  @Test
  void controlsAreReturnedAndRemoved() throws Exception {
    s3.refused("OwnershipControlsNotFoundError", "GET", "/bkt?ownershipControls");
    for (String rule : List.of("ObjectWriter", "BucketOwnerPreferred", "BucketOwnerEnforced")) {
      own(rule);
      assertEquals(
          List.of(rule),
          s3.ok(200, "GET", "/bkt?ownershipControls").each("Rule", "ObjectOwnership"));
    }
    s3.ok(204, "DELETE", "/bkt?ownershipControls");
    s3.refused("OwnershipControlsNotFoundError", "GET", "/bkt?ownershipControls");
    s3.refused(
        "MalformedXML", TestS3.request("PUT", "/bkt?ownershipControls").body(ownership("Mine")));
  }

  @Test
  void enforcedOwnershipDisablesAcls() throws Exception {
    s3.ok(200, TestS3.request("PUT", "/bkt?acl").header("x-amz-acl", "public-read"));
    s3.refused(
        "InvalidBucketAclWithObjectOwnership",
        TestS3.request("PUT", "/bkt?ownershipControls").body(ownership("BucketOwnerEnforced")));
    s3.ok(200, TestS3.request("PUT", "/bkt?acl").header("x-amz-acl", "private"));
    s3.ok(200, TestS3.request("PUT", "/bkt/k?acl").header("x-amz-acl", "public-read"));
    own("BucketOwnerEnforced");
    s3.refused("AccessDenied", as(ANYBODY, "GET", "/bkt/k"));
    for (String uri : List.of("/bkt?acl", "/bkt/k?acl", "/bkt/k")) {
      s3.refused(
          "AccessControlListNotSupported",
          TestS3.request("PUT", uri).header("x-amz-acl", "public-read"));
    }
    s3.ok(
        200,
        TestS3.request("PUT", "/bkt/k").header("x-amz-acl", "bucket-owner-full-control").body("x"));
    assertEquals(
        List.of("FULL_CONTROL"),
        s3.ok(200, "GET", "/bkt/k?acl").xml().children().get(1).children().stream()
            .map(grant -> grant.childText("Permission"))
            .toList());
  }

  @Test
  void ownershipDecidesWhoseObjectsAre() throws Exception {
    put(
        policy(
            statement(
                "Allow",
                "{'AWS':'" + account(OTHER) + "'}",
                "['s3:PutObject','s3:PutObjectAcl']")));
    s3.ok(200, as(OTHER, "PUT", "/bkt/theirs").body("x"));
    s3.refused("AccessDenied", "GET", "/bkt/theirs");
    s3.ok(200, as(OTHER, "GET", "/bkt/theirs"));
    own("BucketOwnerPreferred");
    s3.ok(200, as(OTHER, "PUT", "/bkt/kept").body("x"));
    s3.refused("AccessDenied", "GET", "/bkt/kept");
    s3.ok(
        200,
        as(OTHER, "PUT", "/bkt/given").header("x-amz-acl", "bucket-owner-full-control").body("x"));
    s3.ok(200, "GET", "/bkt/given");
    assertEquals(List.of("owner"), s3.ok(200, "GET", "/bkt/given?acl").each("Owner", "ID"));
    own("BucketOwnerEnforced");
    s3.ok(200, as(OTHER, "PUT", "/bkt/all").body("x"));
    for (String key : List.of("theirs", "kept", "given", "all")) {
      s3.ok(200, "GET", "/bkt/" + key);
      s3.refused("AccessDenied", as(OTHER, "GET", "/bkt/" + key));
    }
  }

  @Test
  void bucketsCanBeCreatedWithOwnershipAndAcl() throws Exception {
    s3.ok(200, TestS3.request("PUT", "/one").header("x-amz-object-ownership", "ObjectWriter"));
    assertEquals(
        List.of("ObjectWriter"),
        s3.ok(200, "GET", "/one?ownershipControls").each("Rule", "ObjectOwnership"));
    s3.ok(200, TestS3.request("PUT", "/two").header("x-amz-acl", "public-read"));
    s3.ok(200, as(ANYBODY, "GET", "/two"));
    s3.refused(
        "InvalidBucketAclWithObjectOwnership",
        TestS3.request("PUT", "/three")
            .header("x-amz-acl", "public-read")
            .header("x-amz-object-ownership", "BucketOwnerEnforced"));
    s3.refused(
        "InvalidArgument", TestS3.request("PUT", "/three").header("x-amz-object-ownership", "Me"));
    s3.refused("NoSuchBucket", "HEAD", "/three");
    // A repeated creation changes nothing, so it cannot ask for another ACL.
    s3.ok(200, TestS3.request("PUT", "/two").header("x-amz-acl", "public-read"));
    s3.refused("BucketAlreadyExists", "PUT", "/two");
    s3.ok(200, "PUT", "/one");
    s3.refused(
        "BucketAlreadyExists", TestS3.request("PUT", "/one").header("x-amz-acl", "public-read"));
  }
}
