package dev.ashlar.importer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ImporterTest {
  private static final String ETAG_OF_AB = "187ef4436122d1cc2f40dc2b92f0eba0";
  private static final String RULE =
      "<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled><Rule>"
          + "<DefaultRetention><Mode>COMPLIANCE</Mode><Years>7</Years></DefaultRetention></Rule>"
          + "</ObjectLockConfiguration>";

  private final List<String> messages = new CopyOnWriteArrayList<>();
  private final Journal journal =
      new Journal() {
        @Override
        public void failed(String what, String why) {
          messages.add(what + ": " + why);
        }

        @Override
        public void note(String what) {
          messages.add(what);
        }
      };

  private FakeStore source;
  private FakeStore target;

  @BeforeEach
  void start() throws IOException {
    source = new FakeStore();
    target = new FakeStore();
    source.answer("GET /b?versions", 200, FakeStore.list(FakeStore.version("k", ETAG_OF_AB, 2)));
    source.answer("GET /b/k?tagging", 200, "<Tagging><TagSet/></Tagging>");
    source.answer("GET /b/k", 200, "ab");
    source.answer("HEAD /b/k", 200, "");
  }

  @AfterEach
  void stop() {
    source.close();
    target.close();
  }

  private Tally pass(String prefix, boolean isMirror, boolean isFollowing) throws Exception {
    ImportOptions options =
        new ImportOptions(List.of("b"), prefix, 2, isMirror, false, isFollowing);
    try (Side from = source.side();
        Side to = target.side();
        Importer importer = new Importer(from, to, options, journal)) {
      return importer.pass();
    }
  }

  private void assertSaid(String text) {
    assertTrue(messages.stream().anyMatch(each -> each.contains(text)), messages::toString);
  }

  @Test
  void mirrorDeletesNothingIfTheSourceDoesNotListVersions() throws Exception {
    source.answer(
        "GET /b?versions",
        200,
        "<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>");
    target.answer("GET /b?versions", 200, FakeStore.list(FakeStore.version("k", ETAG_OF_AB, 2)));
    assertEquals(1, pass("", true, false).failures());
    assertEquals(List.of(), target.changes());
  }

  @Test
  void keyThatIsListedAndNotServedHasFailedAlsoIfThereIsAnotherPass() throws Exception {
    source.answer("GET /b/k", 404, FakeStore.error("NoSuchKey"));
    Tally tally = pass("", false, true);
    assertEquals(1, tally.failures());
    assertEquals(0, tally.unsettledKeys());
    assertSaid("b/k: the source lists it");
  }

  @Test
  void keyThatChangesAllTheTimeIsBehind() throws Exception {
    AtomicInteger size = new AtomicInteger();
    source.answerEach(
        "GET /b?versions",
        () ->
            new FakeStore.Answer(
                200, FakeStore.list(FakeStore.version("k", ETAG_OF_AB, size.incrementAndGet()))));
    source.answer("GET /b/k", 412, FakeStore.error("PreconditionFailed"));
    Tally tally = pass("", false, true);
    assertEquals(1, tally.unsettledKeys());
    assertEquals(0, tally.failures());
    assertEquals(1, pass("", false, false).failures());
    assertSaid("it changes all the time");
  }

  @Test
  void unexpectedExceptionsAreFailuresOfTheirKeys() throws Exception {
    String noDigits = "\uff11".repeat(32); // digits, but not those of an MD5 sum
    source.answer("GET /b?versions", 200, FakeStore.list(FakeStore.version("k", noDigits, 2)));
    assertEquals(1, pass("", false, false).failures());
    assertSaid("b/k: unexpected: ");
  }

  @Test
  void answersThatLackWhatTheyShouldHaveAreFailures() throws Exception {
    target.answer("PUT /b/k", 200, ""); // without an ETag
    assertEquals(1, pass("", false, false).failures());
    assertSaid("b/k: the target's ETag is ");
  }

  @Test
  void bytesThatAreNotThoseOfTheEtagAreNotCopied() throws Exception {
    source.answer("GET /b/k", 200, "xy");
    target.answer("PUT /b/k", 400, FakeStore.error("BadDigest"));
    assertEquals(1, pass("", false, false).failures());
    assertSaid("do not have the MD5 sum of its ETag");
    assertEquals(List.of("PUT /b/k"), target.changes());
  }

  @Test
  void bucketIsNotCopiedWithoutTheRightToReadTags() throws Exception {
    source.answer("GET /b/k?tagging", 403, FakeStore.error("AccessDenied"));
    assertEquals(1, pass("", false, false).failures());
    assertSaid("s3:GetObjectTagging");
    assertEquals(List.of(), target.changes());
  }

  @Test
  void settingsOfTheTargetAreReplacedByAMirrorOnly() throws Exception {
    source.answer("GET /b?versions", 200, FakeStore.list(""));
    source.answer("GET /b?policy", 200, "{\"of\":\"source\"}");
    target.answer("GET /b?policy", 200, "{\"of\":\"operator\"}");
    target.answer("PUT /b?policy", 204, "");
    pass("", false, false);
    assertSaid("policy differs");
    pass("prefix", true, false);
    assertEquals(List.of(), target.changes());
    pass("", true, false);
    assertEquals(List.of("PUT /b?policy"), target.changes());
  }

  @Test
  void bucketsWhoseRequestersPayStayThat() throws Exception {
    String document =
        "<RequestPaymentConfiguration><Payer>%s</Payer></RequestPaymentConfiguration>";
    source.answer("GET /b?versions", 200, FakeStore.list(""));
    target.answer("GET /b?requestPayment", 200, document.formatted("BucketOwner"));
    target.answer("PUT /b?requestPayment", 200, "");
    source.answer("GET /b?requestPayment", 200, document.formatted("BucketOwner"));
    pass("", true, false);
    assertEquals(List.of(), target.changes());
    source.answer("GET /b?requestPayment", 200, document.formatted("Requester"));
    pass("", false, false);
    assertEquals(List.of("PUT /b?requestPayment"), target.changes());
  }

  @Test
  void websitesAreCopied() throws Exception {
    source.answer("GET /b?versions", 200, FakeStore.list(""));
    source.answer(
        "GET /b?website",
        200,
        "<WebsiteConfiguration><IndexDocument><Suffix>i</Suffix></IndexDocument>"
            + "</WebsiteConfiguration>");
    target.answer("PUT /b?website", 200, "");
    assertEquals(0, pass("", false, false).failures());
    assertEquals(List.of("PUT /b?website"), target.changes());
  }

  @Test
  void loggingIsCopiedIfTheTargetBucketIsFit() throws Exception {
    source.answer("GET /b?versions", 200, FakeStore.list(""));
    source.answer(
        "GET /b?logging",
        200,
        "<BucketLoggingStatus><LoggingEnabled><TargetBucket>logs</TargetBucket>"
            + "<TargetPrefix>p</TargetPrefix></LoggingEnabled></BucketLoggingStatus>");
    target.answer("GET /b?logging", 200, "<BucketLoggingStatus/>");
    target.answer("PUT /b?logging", 400, FakeStore.error("InvalidTargetBucketForLogging"));
    Tally tally = pass("", false, false);
    assertEquals(0, tally.failures());
    assertEquals(List.of("PUT /b?logging"), target.changes());
  }

  @Test
  void prefixSetsNothingOnABucketThatWasThere() throws Exception {
    source.answer("GET /b?policy", 200, "{\"of\":\"source\"}");
    pass("prefix", false, false);
    assertFalse(target.changes().contains("PUT /b?policy"));
  }

  @Test
  void defaultRetentionOfTheTargetLocksNoCopy() throws Exception {
    target.answer("GET /b?object-lock", 200, RULE);
    target.answer("PUT /b?object-lock", 200, "");
    assertEquals(1, pass("", false, false).failures());
    assertSaid("b/k: it has no retention");
    assertEquals(List.of(), target.changes());
  }

  @Test
  void defaultRetentionIsSetAfterAPassWithoutFailuresOnly() throws Exception {
    source.answer("GET /b?object-lock", 200, RULE);
    source.answer("GET /b/k", 404, FakeStore.error("NoSuchKey"));
    target.answer("GET /b?object-lock", 200, RULE);
    target.answer("PUT /b?object-lock", 200, "");
    assertEquals(1, pass("", true, false).failures());
    assertEquals(List.of("PUT /b?object-lock"), target.changes()); // taken off
    assertSaid("b/k: ");
  }
}
