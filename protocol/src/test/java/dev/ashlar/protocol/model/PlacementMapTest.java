package dev.ashlar.protocol.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.protocol.message.AddedProfile;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.DebtLevel;
import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.message.FailureDomain;
import dev.ashlar.protocol.message.PgMapRow;
import dev.ashlar.protocol.message.PgRow;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;

class PlacementMapTest {
  private static final Profile FOUR_TWO = new Profile(4, 2, 16384);
  private static final Profile ONE_TWO = new Profile(1, 2, 16384);
  private static final Profile EIGHT_THREE = new Profile(8, 3, 4096);

  @Property
  void anIdTellsItsProfileAndItsCount(
      @ForAll long session,
      @ForAll @IntRange(max = BlobId.PROFILE_MAX) int profile,
      @ForAll @LongRange(max = BlobId.COUNT_MAX) long count) {
    BlobId id = BlobId.of(session, profile, count);
    assertEquals(profile, id.profile());
    assertEquals(count, id.sequence() & BlobId.COUNT_MAX);
    assertEquals(id, BlobId.of(id.toMessage()));
  }

  @Test
  void idsOfTheFirstProfileAreAsTheyAlwaysWere() {
    assertEquals(new BlobId(7, 12), BlobId.of(7, 0, 12));
    assertThrows(IllegalArgumentException.class, () -> BlobId.of(7, BlobId.PROFILE_MAX + 1, 0));
    assertThrows(IllegalArgumentException.class, () -> BlobId.of(7, 0, BlobId.COUNT_MAX + 1));
  }

  /** Groups of this profile over the first drives. */
  private static List<PgRow> groups(Profile profile, int first, int count) {
    List<PgRow> groups = new ArrayList<>();
    for (int pg = first; pg < first + count; pg++) {
      PgRow.Builder row = PgRow.newBuilder().setPg(pg);
      for (int slot = 0; slot < profile.shards(); slot++) {
        row.addSlots(DriveRow.newBuilder().setDriveLow(1 + (pg + slot) % 12));
      }
      groups.add(row.build());
    }
    return groups;
  }

  private static AddedProfile.Builder added(String name, Profile profile, int first, int count) {
    return AddedProfile.newBuilder()
        .setName(name)
        .setProfile(profile.toMessage())
        .setFailureDomain(FailureDomain.DOMAIN_RACK)
        .addAllPgs(groups(profile, first, count));
  }

  private static PgMapRow.Builder row(int first, int second, int third) {
    return PgMapRow.newBuilder()
        .setEpoch(9)
        .setProfile(FOUR_TWO.toMessage())
        .setFailureDomain(FailureDomain.DOMAIN_NODE)
        .addAllPgs(groups(FOUR_TWO, 0, first))
        .addAdded(added("HOT", ONE_TWO, first, second))
        .addAdded(added("COLD", EIGHT_THREE, first + second, third));
  }

  /** Every blob has one group, in the range of its profile, and every group has one profile. */
  @Property(tries = 100)
  void everyBlobHasAGroupOfItsProfile(
      @ForAll @IntRange(min = 1, max = 50) int first,
      @ForAll @IntRange(min = 1, max = 50) int second,
      @ForAll @IntRange(min = 1, max = 50) int third,
      @ForAll long seed) {
    PgMapRow row = row(first, second, third).build();
    PlacementMap map = PlacementMap.of(row);
    assertEquals(row, map.toMessage());
    assertEquals(first + second + third, map.groups().size());
    Random random = new Random(seed);
    Set<Integer> used = new HashSet<>();
    for (int i = 0; i < 2000; i++) {
      int number = random.nextInt(3);
      BlobId id = BlobId.of(random.nextLong(), number, random.nextLong(1L << 48));
      int pg = map.group(id).orElseThrow();
      assertEquals(number, map.placed(pg).number());
      assertEquals(map.profile(pg).shards(), map.slotDrives().get(pg).size());
      used.add(pg);
    }
    assertEquals(new HashSet<>(map.groups()), used, "seed " + seed);
    assertEquals(OptionalInt.empty(), map.group(BlobId.of(1, 3, 0)));
    assertThrows(IllegalArgumentException.class, () -> map.placed(first + second + third));
  }

  @Test
  void aClassIsANameOrTheDefault() {
    PlacementMap map = PlacementMap.of(row(4, 4, 4).setStandard(2).build());
    assertEquals(EIGHT_THREE, map.ofClass("STANDARD").orElseThrow().profile());
    assertEquals(ONE_TWO, map.ofClass("HOT").orElseThrow().profile());
    assertEquals(FOUR_TWO, map.ofClass("FIRST").orElseThrow().profile());
    assertTrue(map.ofClass("").isEmpty());
    assertTrue(map.ofClass("hot").isEmpty());
    assertEquals("STANDARD", map.classOf(map.standard()));
    assertEquals("HOT", map.classOf(map.placed(4)));
  }

  @Test
  void aRemovedProfileKeepsItsNumberAndItsGroups() {
    PgMapRow.Builder row = row(4, 5, 6);
    row.getAddedBuilder(0).clearPgs().setRemovedPgs(5);
    PlacementMap map = PlacementMap.of(row.build());
    assertEquals(row.build(), map.toMessage());
    assertEquals(9, map.numbered(2).orElseThrow().firstGroup());
    assertTrue(map.numbered(1).isEmpty());
    assertTrue(map.ofClass("HOT").isEmpty());
    assertEquals(List.of(0, 1, 2, 3, 9, 10, 11, 12, 13, 14), map.groups());
    assertEquals(List.of(), map.slotDrives().get(4));
    assertEquals(4 * 6 + 6 * 11, map.slotCounts().values().stream().mapToLong(n -> n).sum());
    PlacementMap first =
        PlacementMap.of(row(4, 5, 6).setStandard(1).clearPgs().setRemovedPgs(4).build());
    assertEquals(List.of(4, 5, 6, 7, 8), first.groups().subList(0, 5));
  }

  @Test
  void aMapThatContradictsItselfIsRefused() {
    List<PgMapRow.Builder> wrong =
        List.of(
            row(1, 1, 1).setStandard(3),
            row(1, 1, 1).setStandard(-1),
            row(1, 1, 1).setRemovedPgs(1),
            row(1, 1, 1).clearPgs(),
            row(1, 1, 1).clearPgs().setRemovedPgs(1), // the default is removed
            row(1, 1, 1).addAdded(AddedProfile.newBuilder().setName("NONE")),
            row(1, 1, 1)
                .addAdded(added("NARROW", EIGHT_THREE, 3, 1).setProfile(ONE_TWO.toMessage())));
    for (PgMapRow.Builder row : wrong) {
      assertThrows(IllegalArgumentException.class, () -> PlacementMap.of(row.build()));
    }
  }

  @Test
  void movesKeepTheProfiles() {
    PlacementMap map = PlacementMap.of(row(4, 5, 6).setStandard(1).build());
    UUID drive = new UUID(0, 99);
    PlacementMap next = map.after(10, List.of(new PlacementMap.Move(10, 7, drive)), 5, 6, false);
    assertEquals(map.profiles(), next.profiles());
    assertEquals(1, next.standardNumber());
    assertEquals(List.of(new PlacementMap.Move(10, 7, drive)), map.movesTo(next));
    assertEquals(next, PlacementMap.of(next.toMessage()));
  }

  /** A reader may know a row that its map is too old for, or that is long gone. */
  @Test
  void aBlobWithoutAGroupIsNowhere() {
    PgMapRow.Builder row = row(4, 5, 6);
    row.getAddedBuilder(0).clearPgs().setRemovedPgs(5);
    PlacementMap map = PlacementMap.of(row.build());
    for (int pg : new int[] {5, 15}) {
      BlobRow blob = BlobRow.newBuilder().setPg(pg).build();
      assertEquals(PlacementMap.NOWHERE, map.location(blob, 2));
      assertEquals(Set.of(PlacementMap.NOWHERE), map.holders(blob));
      assertEquals(List.of(), map.slots(pg));
    }
  }

  @Test
  void namesAreStorageClasses() {
    for (String name : List.of("COLD", "GLACIER_IR", "A-1", "9", "X".repeat(32))) {
      assertTrue(PlacedProfile.isName(name), name);
    }
    for (String name : List.of("", "cold", "STANDARD", "FIRST", "A B", "Ä", "X".repeat(33))) {
      assertFalse(PlacedProfile.isName(name), name);
    }
  }

  /** At one level, blobs of a profile with more parity lack shards, and others only move. */
  @Test
  void aLevelIsOfDebtsForOneProfileAndOfMovesForAnother() {
    PlacementMap map = PlacementMap.of(row(1, 1, 1).build());
    DebtLevel level =
        DebtLevel.newBuilder()
            .setSpare(2)
            .setBlobs(10)
            .setBytes(1000)
            .addAdded(DebtLevel.OfProfile.newBuilder().setNumber(1).setBlobs(3).setBytes(200))
            .addAdded(DebtLevel.OfProfile.newBuilder().setNumber(2).setBlobs(1).setBytes(50))
            .build();
    DebtLevel worse = DebtLevel.newBuilder().setSpare(1).setBlobs(4).setBytes(7).build();
    List<DebtLevel> levels = List.of(worse, level);
    assertEquals(
        List.of(worse, DebtLevel.newBuilder().setSpare(2).setBlobs(1).setBytes(50).build()),
        DebtLevels.inDebt(levels, map));
    assertEquals(
        List.of(DebtLevel.newBuilder().setSpare(2).setBlobs(9).setBytes(950).build()),
        DebtLevels.moving(levels, map));
    PlacementMap older = new PlacementMap(1, FOUR_TWO, List.of(map.slotDrives().getFirst()));
    assertEquals(
        List.of(worse, level.toBuilder().clearAdded().setBlobs(4).setBytes(250).build()),
        DebtLevels.inDebt(levels, older),
        "of unknown profiles blobs may lack shards");
    assertEquals(Map.of(), older.past());
  }
}
