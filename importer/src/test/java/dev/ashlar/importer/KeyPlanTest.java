package dev.ashlar.importer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class KeyPlanTest {
  /** Versions with these ETags; their times are those of their letters' places. */
  private static KeyVersions versions(int firstSecond, String etags) {
    List<Version> versions = new ArrayList<>();
    for (int i = 0; i < etags.length(); i++) {
      versions.add(
          new Version(
              "key",
              "" + i,
              false,
              etags.substring(i, i + 1),
              1,
              Instant.ofEpochSecond(firstSecond + i)));
    }
    return new KeyVersions("key", versions);
  }

  private static KeyPlan plan(KeyVersions source, KeyVersions target) throws IOException {
    return KeyPlan.of(source, target, (here, there) -> here.etag().equals(there.etag()));
  }

  private static String etags(List<Version> versions) {
    return String.join("", versions.stream().map(Version::etag).toList());
  }

  @Test
  void nothingThereCopiesAll() throws IOException {
    KeyPlan plan = plan(versions(0, "abc"), versions(100, ""));
    assertEquals("abc", etags(plan.missing()));
    assertFalse(plan.isDiverged());
  }

  @Test
  void oldestVersionsThereCopiesTheRest() throws IOException {
    KeyPlan plan = plan(versions(0, "abc"), versions(100, "a"));
    assertEquals("bc", etags(plan.missing()));
    assertEquals(1, plan.equal());
    assertFalse(plan.isDiverged());
  }

  @Test
  void sameVersionsCopyNothing() throws IOException {
    KeyPlan plan = plan(versions(0, "aab"), versions(100, "aab"));
    assertEquals(3, plan.equal());
    assertTrue(plan.missing().isEmpty() && plan.extra().isEmpty() && !plan.isDiverged());
  }

  @Test
  void versionsDeletedAtTheSourceStayAndTheRestIsCopied() throws IOException {
    KeyPlan plan = plan(versions(0, "bcd"), versions(100, "abc"));
    assertEquals("a", etags(plan.extra()));
    assertEquals("d", etags(plan.missing()));
    assertFalse(plan.isDiverged());
  }

  @Test
  void newerVersionOfOthersDiverges() throws IOException {
    assertTrue(plan(versions(0, "ab"), versions(100, "abx")).isDiverged());
    assertTrue(plan(versions(0, "abc"), versions(100, "abx")).isDiverged());
    assertTrue(plan(versions(0, "a"), versions(100, "x")).isDiverged());
  }

  @Test
  void newerVersionOfTheSourceReplacesWhatItHasReplacedThere() throws IOException {
    KeyPlan plan = plan(versions(200, "b"), versions(100, "a"));
    assertEquals("b", etags(plan.missing()));
    assertFalse(plan.isDiverged());
  }

  private static String ids(List<Version> versions) {
    return String.join("", versions.stream().map(Version::id).toList());
  }

  @Test
  void ofTwinsTheNewestIsTheCopy() throws IOException {
    KeyPlan plan = plan(versions(1, "a"), versions(100, "aa"));
    assertEquals("0", ids(plan.extra()));
    assertEquals(1, plan.equal());
    assertTrue(plan.missing().isEmpty() && !plan.isDiverged());
    assertEquals("01", ids(plan(versions(2, "a"), versions(100, "aba")).extra()));
  }

  @Test
  void whatIsOlderBySecondsIsNoCopy() {
    Instant second = Instant.ofEpochSecond(100);
    Version whole = new Version("key", "1", false, "a", 1, second);
    Version later = new Version("key", "2", false, "a", 1, second.plusMillis(900));
    Version next = new Version("key", "3", false, "a", 1, second.plusSeconds(1));
    assertFalse(whole.isOlderThan(later));
    assertTrue(later.isOlderThan(next));
    assertFalse(next.isOlderThan(later));
  }

  @Test
  void keyThatOnlyTheTargetHasIsExtra() throws IOException {
    KeyPlan plan = plan(versions(0, ""), versions(100, "ab"));
    assertEquals("ab", etags(plan.extra()));
    assertFalse(plan.isDiverged());
  }
}
