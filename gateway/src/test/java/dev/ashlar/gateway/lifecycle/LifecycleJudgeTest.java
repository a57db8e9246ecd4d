package dev.ashlar.gateway.lifecycle;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.protocol.message.ObjectLock;
import dev.ashlar.protocol.message.Tag;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LifecycleJudgeTest {
  private static final Verdict DELETE = new Verdict.Delete(0);
  private static final Verdict TO_A = new Verdict.Move("A");
  private static final Verdict TO_B = new Verdict.Move("B");
  private static final long SMALL = (128 << 10) - 1;

  private static LifecycleRules rules(boolean smallObjectsStay, String... fields) throws Exception {
    StringBuilder xml = new StringBuilder("<LifecycleConfiguration>");
    for (int i = 0; i < fields.length; i++) {
      boolean isFiltered = fields[i].contains("<Filter>");
      xml.append("<Rule><ID>r" + i + "</ID><Status>Enabled</Status>")
          .append(isFiltered ? "" : "<Filter/>")
          .append(fields[i])
          .append("</Rule>");
    }
    xml.append("</LifecycleConfiguration>");
    return new LifecycleRules(
        LifecycleReader.read(xml.toString().getBytes(StandardCharsets.UTF_8), () -> "none"),
        smallObjectsStay);
  }

  private static String expires(String when) {
    return "<Expiration>" + when + "</Expiration>";
  }

  private static String days(int days) {
    return "<Days>" + days + "</Days>";
  }

  private static String moves(String when, String storageClass) {
    return "<Transition>" + when + "<StorageClass>" + storageClass + "</StorageClass></Transition>";
  }

  private static String noncurrent(int days, int newer) {
    String kept =
        newer == 0 ? "" : "<NewerNoncurrentVersions>" + newer + "</NewerNoncurrentVersions>";
    return "<NoncurrentVersionExpiration><NoncurrentDays>"
        + days
        + "</NoncurrentDays>"
        + kept
        + "</NoncurrentVersionExpiration>";
  }

  private static String noncurrentMoves(int days, String storageClass) {
    return "<NoncurrentVersionTransition><NoncurrentDays>"
        + days
        + "</NoncurrentDays><StorageClass>"
        + storageClass
        + "</StorageClass></NoncurrentVersionTransition>";
  }

  private static String tagged(String rule) {
    return "<Filter><Tag><Key>k</Key><Value>v</Value></Tag></Filter>" + rule;
  }

  private static long ms(String time) {
    return Instant.parse(time).toEpochMilli();
  }

  private static JudgedVersion present(String since, long size, String storageClass) {
    return new JudgedVersion("key", size, storageClass, false, ms(since), true, false, 0);
  }

  private static JudgedVersion marker(String since, boolean isOnly) {
    return new JudgedVersion("key", 0, "", true, ms(since), true, isOnly, 0);
  }

  private static JudgedVersion older(String since, int newer) {
    return new JudgedVersion("key", 5, "STANDARD", false, ms(since), false, false, newer);
  }

  private static Verdict judge(
      LifecycleRules rules, boolean isVersioned, JudgedVersion version, String now) {
    return judge(rules, isVersioned, version, now, VersionFacts.NONE);
  }

  private static Verdict judge(
      LifecycleRules rules,
      boolean isVersioned,
      JudgedVersion version,
      String now,
      VersionFacts facts) {
    return new LifecycleJudge(rules, LifecycleCalendar.REAL, isVersioned, true)
        .judge(version, ms(now), () -> facts);
  }

  /** A source that must not be asked. */
  private static VersionFacts unread() {
    throw new AssertionError("facts were read that make no difference");
  }

  @ParameterizedTest
  @CsvSource({
    "1, 2024-01-15T10:30:00Z, 2024-01-16T10:30:00Z, false",
    "1, 2024-01-15T10:30:00Z, 2024-01-16T23:59:59.999Z, false",
    "1, 2024-01-15T10:30:00Z, 2024-01-17T00:00:00Z, true",
    "1, 2024-01-15T00:00:00Z, 2024-01-15T23:59:59.999Z, false",
    "1, 2024-01-15T00:00:00Z, 2024-01-16T00:00:00Z, true",
    "30, 2024-02-01T12:00:00Z, 2024-03-02T23:59:59Z, false",
    "30, 2024-02-01T12:00:00Z, 2024-03-03T00:00:00Z, true",
    "2147483647, 2024-02-01T12:00:00Z, 9999-01-01T00:00:00Z, false"
  })
  void daysAreOverAtTheMidnightThatFollows(int days, String since, String now, boolean isDue)
      throws Exception {
    LifecycleRules rules = rules(false, expires(days(days)));
    Verdict expected = isDue ? Verdict.EXPIRE : Verdict.KEEP;
    assertEquals(expected, judge(rules, false, present(since, 5, "STANDARD"), now));
    assertEquals(expected, judge(rules, true, present(since, 5, "STANDARD"), now));
  }

  @Test
  void datesConcernOldAndNewVersions() throws Exception {
    LifecycleRules rules = rules(false, expires("<Date>2024-01-15</Date>"));
    JudgedVersion version = present("2024-01-14T01:00:00Z", 5, "STANDARD");
    assertEquals(Verdict.KEEP, judge(rules, false, version, "2024-01-14T23:59:59Z"));
    assertEquals(Verdict.EXPIRE, judge(rules, false, version, "2024-01-15T00:00:00Z"));
    JudgedVersion newer = present("2024-01-15T01:00:00Z", 5, "STANDARD");
    assertEquals(Verdict.EXPIRE, judge(rules, false, newer, "2024-01-15T02:00:00Z"));
  }

  @Test
  void deletionForGoodWinsOverAMoveAndThatOverAMarker() throws Exception {
    LifecycleRules rules = rules(false, expires(days(2)), moves(days(1), "A"));
    JudgedVersion version = present("2024-01-15T10:00:00Z", 5, "STANDARD");
    assertEquals(TO_A, judge(rules, false, version, "2024-01-17T00:00:00Z"));
    assertEquals(Verdict.EXPIRE, judge(rules, false, version, "2024-01-18T00:00:00Z"));
    assertEquals(TO_A, judge(rules, true, version, "2024-01-17T00:00:00Z"));
    LifecycleRules together = rules(false, expires(days(2)), moves(days(2), "A"));
    assertEquals(TO_A, judge(together, true, version, "2024-01-18T00:00:00Z"));
    JudgedVersion moved = present("2024-01-15T10:00:00Z", 5, "A");
    assertEquals(Verdict.EXPIRE, judge(rules, true, moved, "2024-01-18T00:00:00Z"));
    LifecycleRules noncurrent = rules(false, noncurrent(1, 0), noncurrentMoves(0, "A"));
    JudgedVersion older = older("2024-01-15T10:00:00Z", 0);
    assertEquals(TO_A, judge(noncurrent, true, older, "2024-01-16T00:00:00Z"));
    assertEquals(DELETE, judge(noncurrent, true, older, "2024-01-17T00:00:00Z"));
  }

  @Test
  void aMoveThatWasNotPossibleInTimeDoesNotHoldUpTheMarker() throws Exception {
    LifecycleRules rules = rules(false, expires(days(2)), moves(days(1), "A"));
    JudgedVersion version = present("2024-01-15T10:00:00Z", 5, "STANDARD");
    assertEquals(Verdict.EXPIRE, judge(rules, true, version, "2024-01-18T00:00:00Z"));
  }

  @Test
  void theLastDueClassIsMovedTo() throws Exception {
    LifecycleRules rules = rules(false, moves(days(1), "A") + moves(days(3), "B"));
    for (String storageClass : List.of("STANDARD", "B")) {
      JudgedVersion version = present("2024-01-15T10:00:00Z", 5, storageClass);
      assertEquals(Verdict.KEEP, judge(rules, true, version, "2024-01-16T00:00:00Z"));
      assertEquals(TO_A, judge(rules, true, version, "2024-01-17T00:00:00Z"));
    }
    assertEquals(
        Verdict.KEEP,
        judge(rules, true, present("2024-01-15T10:00:00Z", 5, "A"), "2024-01-18T00:00:00Z"));
    assertEquals(
        TO_B, judge(rules, true, present("2024-01-15T10:00:00Z", 5, "A"), "2024-01-19T00:00:00Z"));
    LifecycleRules same = rules(false, moves(days(1), "A"), moves(days(1), "B"));
    assertEquals(
        TO_A, judge(same, true, present("2024-01-15T10:00:00Z", 5, "B"), "2024-01-19T00:00:00Z"));
  }

  @Test
  void smallObjectsStayIfThatIsAskedForAndTheRuleHasNoSizes() throws Exception {
    String move = moves(days(1), "A");
    String sized =
        "<Filter><ObjectSizeGreaterThan>0</ObjectSizeGreaterThan></Filter>" + moves(days(1), "B");
    JudgedVersion small = present("2024-01-15T10:00:00Z", SMALL, "STANDARD");
    JudgedVersion large = present("2024-01-15T10:00:00Z", SMALL + 1, "STANDARD");
    String now = "2024-01-19T00:00:00Z";
    assertEquals(TO_A, judge(rules(false, move), true, small, now));
    assertEquals(Verdict.KEEP, judge(rules(true, move), true, small, now));
    assertEquals(TO_A, judge(rules(true, move), true, large, now));
    assertEquals(TO_B, judge(rules(true, move, sized), true, small, now));
  }

  @ParameterizedTest
  @CsvSource({
    "10, -1, 10, false",
    "10, -1, 11, true",
    "-1, 10, 10, false",
    "-1, 10, 9, true",
    "3, 5, 4, true",
    "3, 5, 5, false",
    "3, 5, 3, false"
  })
  void sizesAreExclusive(long above, long below, long size, boolean matches) {
    assertEquals(
        matches, new LifecycleFilter(false, null, List.of(), above, below).matchesSize(size));
  }

  @Test
  void newerNoncurrentVersionsAreKept() throws Exception {
    LifecycleRules rules = rules(false, noncurrent(1, 2));
    String now = "2024-01-19T00:00:00Z";
    assertEquals(Verdict.KEEP, judge(rules, true, older("2024-01-15T10:00:00Z", 0), now));
    assertEquals(Verdict.KEEP, judge(rules, true, older("2024-01-15T10:00:00Z", 1), now));
    assertEquals(new Verdict.Delete(2), judge(rules, true, older("2024-01-15T10:00:00Z", 2), now));
    LifecycleRules several = rules(false, noncurrent(1, 2), noncurrent(2, 1), noncurrent(9, 0));
    assertEquals(
        new Verdict.Delete(1), judge(several, true, older("2024-01-15T10:00:00Z", 2), now));
    assertEquals(Verdict.KEEP, judge(rules, true, older("2024-01-18T10:00:00Z", 2), now));
  }

  @Test
  void markersAreRemovedWhenNothingIsBelowThem() throws Exception {
    LifecycleRules always =
        rules(false, expires("<ExpiredObjectDeleteMarker>true</ExpiredObjectDeleteMarker>"));
    LifecycleRules never =
        rules(false, expires("<ExpiredObjectDeleteMarker>false</ExpiredObjectDeleteMarker>"));
    LifecycleRules aged = rules(false, expires(days(5)));
    String now = "2024-01-19T00:00:00Z";
    JudgedVersion young = marker("2024-01-18T23:00:00Z", true);
    JudgedVersion old = marker("2024-01-13T23:00:00Z", true);
    assertEquals(DELETE, judge(always, true, young, now));
    assertEquals(Verdict.KEEP, judge(always, true, marker("2024-01-13T23:00:00Z", false), now));
    assertEquals(Verdict.KEEP, judge(never, true, old, now));
    assertEquals(Verdict.KEEP, judge(aged, true, young, now));
    assertEquals(DELETE, judge(aged, true, old, now));
    assertEquals(Verdict.KEEP, judge(rules(false, tagged(expires(days(5)))), true, old, now));
    JudgedVersion below =
        new JudgedVersion("key", 0, "", true, ms("2024-01-13T23:00:00Z"), false, false, 0);
    assertEquals(DELETE, judge(rules(false, noncurrent(1, 0)), true, below, now));
    assertEquals(Verdict.KEEP, judge(rules(false, noncurrentMoves(1, "A")), true, below, now));
  }

  @Test
  void locksKeepVersionsButNotFromMarkersAndMoves() throws Exception {
    String now = "2024-01-19T00:00:00Z";
    VersionFacts held =
        new VersionFacts(List.of(), ObjectLock.newBuilder().setLegalHold(true).build());
    VersionFacts retained =
        new VersionFacts(
            List.of(),
            ObjectLock.newBuilder()
                .setMode(ObjectLock.Mode.GOVERNANCE)
                .setRetainUntilMs(ms(now) + 1)
                .build());
    VersionFacts over =
        new VersionFacts(List.of(), retained.lock().toBuilder().setRetainUntilMs(ms(now)).build());
    LifecycleRules rules = rules(false, noncurrent(1, 0));
    JudgedVersion older = older("2024-01-15T10:00:00Z", 0);
    assertEquals(Verdict.LOCKED, judge(rules, true, older, now, held));
    assertEquals(Verdict.LOCKED, judge(rules, true, older, now, retained));
    assertEquals(DELETE, judge(rules, true, older, now, over));
    LifecycleRules moving = rules(false, noncurrent(1, 0), noncurrentMoves(0, "A"));
    assertEquals(TO_A, judge(moving, true, older, now, held));
    JudgedVersion present = present("2024-01-15T10:00:00Z", 5, "STANDARD");
    assertEquals(Verdict.EXPIRE, judge(rules(false, expires(days(1))), true, present, now, held));
  }

  @Test
  void tagsAreAskedForOnlyIfTheyMakeADifference() throws Exception {
    String now = "2024-01-19T00:00:00Z";
    JudgedVersion old = present("2024-01-15T10:00:00Z", 5, "STANDARD");
    VersionFacts tags =
        new VersionFacts(
            List.of(
                Tag.newBuilder().setKey("other").setValue("x").build(),
                Tag.newBuilder().setKey("k").setValue("v").build()),
            ObjectLock.getDefaultInstance());
    LifecycleRules expiring = rules(false, tagged(expires(days(1))));
    assertEquals(Verdict.EXPIRE, judge(expiring, true, old, now, tags));
    assertEquals(Verdict.KEEP, judge(expiring, true, old, now));
    LifecycleRules moving = rules(false, tagged(moves(days(1), "A")));
    assertEquals(TO_A, judge(moving, true, old, now, tags));
    assertEquals(Verdict.KEEP, judge(moving, true, old, now));
    JudgedVersion young = present("2024-01-18T10:00:00Z", 5, "STANDARD");
    JudgedVersion moved = present("2024-01-15T10:00:00Z", 5, "A");
    for (LifecycleRules each : List.of(expiring, moving)) {
      LifecycleJudge judge = new LifecycleJudge(each, LifecycleCalendar.REAL, true, true);
      assertEquals(Verdict.KEEP, judge.judge(young, ms(now), LifecycleJudgeTest::unread));
    }
    LifecycleJudge judge = new LifecycleJudge(moving, LifecycleCalendar.REAL, true, true);
    assertEquals(Verdict.KEEP, judge.judge(moved, ms(now), LifecycleJudgeTest::unread));
  }

  @Test
  void shortDaysHaveShortMidnights() throws Exception {
    LifecycleJudge judge =
        new LifecycleJudge(
            rules(false, expires(days(3))), new LifecycleCalendar(10_000), false, false);
    JudgedVersion version = new JudgedVersion("key", 5, "A", false, 12_345, true, false, 0);
    assertEquals(Verdict.KEEP, judge.judge(version, 49_999, LifecycleJudgeTest::unread));
    assertEquals(Verdict.EXPIRE, judge.judge(version, 50_000, LifecycleJudgeTest::unread));
  }

  @Test
  void prefixesAreReducedAndInTheOrderOfBytes() throws Exception {
    LifecycleRules rules =
        rules(
            false,
            "<Filter><Prefix>b/</Prefix></Filter>" + expires(days(1)),
            "<Filter><Prefix>a</Prefix></Filter>" + expires(days(1)),
            "<Filter><Prefix>a/c</Prefix></Filter>" + moves(days(1), "A"),
            "<Filter><Prefix>\ud83d\ude00</Prefix></Filter>" + expires(days(1)),
            "<Filter><Prefix>\uffee</Prefix></Filter>" + expires(days(1)));
    assertEquals(List.of("a", "b/", "\uffee", "\ud83d\ude00"), rules.prefixes());
    assertEquals(List.of("a/c"), rules.moving().prefixes());
    assertEquals(
        List.of("r1", "r2"), rules.within("a").rules().stream().map(LifecycleRule::id).toList());
    assertEquals(
        List.of("r1", "r2"), rules.within("a/c").rules().stream().map(LifecycleRule::id).toList());
    assertEquals(List.of(), rules.aborting().prefixes());
  }
}
