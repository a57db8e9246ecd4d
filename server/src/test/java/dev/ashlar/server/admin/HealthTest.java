package dev.ashlar.server.admin;

import static dev.ashlar.server.admin.Health.Extent.ALL;
import static dev.ashlar.server.admin.Health.Extent.NONE;
import static dev.ashlar.server.admin.Health.Extent.SOME;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.metadata.consensus.folder.FolderStatus;
import dev.ashlar.metadata.consensus.folder.FolderStatus.Standing;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.server.admin.Health.Extent;
import dev.ashlar.server.admin.Health.Status;
import dev.ashlar.server.cluster.DataRisk;
import dev.ashlar.server.cluster.Protection;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class HealthTest {
  private static final Profile PROFILE = Profile.parse("4+2", 16384);

  private static final Protection FULL = new Protection(true, 0, 0, 0, 0, List.of());
  private static final DataRisk NONE_LOST = new DataRisk(true, true, 0, 0, 0, 0, 0);

  /** What is owed is no reason to send nobody here, but one to look. */
  @Test
  void whatIsOwedIsNotFullProtection() {
    Health.Drives drives = new Health.Drives(6, 6, 6, List.of(), List.of(), List.of());
    Health.Metadata metadata = new Health.Metadata(1, 1, List.of(), List.of());
    Protection inDebt = new Protection(true, 2, 10, 0, 0, List.of());
    Protection moving = new Protection(true, 0, 0, 3, 10, List.of());
    assertEquals(
        Status.DEGRADED, Health.of(List.of(PROFILE), drives, metadata, inDebt, NONE_LOST).status());
    assertEquals(
        Status.UP, Health.of(List.of(PROFILE), drives, metadata, moving, NONE_LOST).status());
    assertEquals(
        Status.DEGRADED,
        Health.of(List.of(PROFILE), drives, metadata, Protection.UNKNOWN, NONE_LOST).status());
  }

  @Test
  void drivesDecideWhatCanBeReadAndWritten() {
    assertHealth(6, 0, 0, Status.UP, ALL, ALL);
    assertHealth(6, 0, 1, Status.DEGRADED, ALL, ALL);
    assertHealth(6, 1, 0, Status.DEGRADED, ALL, ALL);
    assertHealth(6, 1, 1, Status.DEGRADED, ALL, NONE);
    assertHealth(6, 2, 0, Status.DEGRADED, ALL, NONE);
    assertHealth(6, 3, 0, Status.DOWN, NONE, NONE);
    assertHealth(12, 2, 0, Status.DEGRADED, ALL, SOME);
    assertHealth(12, 3, 0, Status.DEGRADED, SOME, SOME);
  }

  /** Enough drives are there, and objects are lost all the same; or nobody knows. */
  @Test
  void readsAreAllOnlyWhereAllCanBeRead() {
    Health.Drives drives = new Health.Drives(6, 6, 6, List.of(), List.of(), List.of());
    Health.Metadata metadata = new Health.Metadata(1, 1, List.of(), List.of());
    Protection inDebt = new Protection(true, 5, 10, 0, 0, List.of(new Protection.Level(-1, 5, 10)));
    DataRisk lost = new DataRisk(true, false, 0, 5, 0, 0, 0);
    Health health = Health.of(List.of(PROFILE), drives, metadata, inDebt, lost);
    assertEquals(List.of(Status.DEGRADED, SOME), List.of(health.status(), health.reads()));
    assertEquals(ALL, health.writes());
    Health unknown =
        Health.of(List.of(PROFILE), drives, metadata, Protection.UNKNOWN, DataRisk.UNKNOWN);
    assertEquals(List.of(Status.DEGRADED, SOME), List.of(unknown.status(), unknown.reads()));
  }

  @Test
  void withoutAMajorityOfMetadataNothingWorks() {
    Health.Drives drives = new Health.Drives(6, 6, 6, List.of(), List.of(), List.of());
    Health.Metadata minority =
        Health.Metadata.of(
            List.of(
                new FolderStatus(Path.of("m1"), Standing.MEMBER, ""),
                new FolderStatus(Path.of("m2"), Standing.REBUILDING, ""),
                new FolderStatus(Path.of("m3"), Standing.LEFT_OUT, "damaged")));
    assertEquals(List.of("m2"), minority.rebuilding());
    assertEquals(new Health.LeftOut("m3", "damaged"), minority.leftOut().get(0));
    assertEquals(
        Status.DOWN, Health.of(List.of(PROFILE), drives, minority, FULL, NONE_LOST).status());
  }

  private static void assertHealth(
      int total, int missing, int readOnly, Status status, Extent reads, Extent writes) {
    Health.Drives drives =
        new Health.Drives(
            total,
            total - missing,
            total - missing - readOnly,
            folders(missing),
            List.of(),
            folders(readOnly));
    Health.Metadata metadata = new Health.Metadata(1, 1, List.of(), List.of());
    assertEquals(
        new Health(status, reads, writes, drives, metadata, FULL, NONE_LOST),
        Health.of(List.of(PROFILE), drives, metadata, FULL, NONE_LOST));
  }

  private static List<String> folders(int count) {
    return IntStream.range(0, count).mapToObj(n -> "d" + n).toList();
  }
}
