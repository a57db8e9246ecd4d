package dev.ashlar.metadata.placement;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.message.PgMapRow;
import dev.ashlar.protocol.message.PgRow;
import dev.ashlar.protocol.model.Profile;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class PlacementTest {
  private static final Profile PROFILE = new Profile(4, 2, 16384);

  private static List<DriveRow> drives(int count, Function<Integer, String> domain) {
    List<DriveRow> drives = new ArrayList<>();
    for (int i = 1; i <= count; i++) {
      drives.add(
          DriveRow.newBuilder()
              .setDriveHigh(7)
              .setDriveLow(i)
              .setIncarnation(1)
              .setFailureDomain(domain.apply(i))
              .setCapacityBytes(1L << 40)
              .build());
    }
    return drives;
  }

  private static Map<Long, Integer> uses(PgMapRow map) {
    Map<Long, Integer> uses = new HashMap<>();
    for (PgRow pg : map.getPgsList()) {
      pg.getSlotsList().forEach(slot -> uses.merge(slot.getDriveLow(), 1, Integer::sum));
    }
    return uses;
  }

  @Test
  void theOrderOfDrivesDoesNotMatter() {
    List<DriveRow> drives = drives(12, i -> "n" + i % 6);
    PgMapRow map = Placement.first(drives, PROFILE, 64);
    Collections.shuffle(drives, new Random(5));
    assertEquals(map, Placement.first(drives, PROFILE, 64));
  }

  @Test
  void slotsOfAGroupAreInDistinctDomains() {
    PgMapRow map = Placement.first(drives(16, i -> "n" + i % 8), PROFILE, 256);
    for (PgRow pg : map.getPgsList()) {
      assertEquals(
          PROFILE.shards(),
          pg.getSlotsList().stream().map(s -> s.getDriveLow() % 8).distinct().count());
    }
  }

  @Test
  void withFewDomainsEachIsUsedAsEvenlyAsPossible() {
    PgMapRow map = Placement.first(drives(9, i -> "n" + i % 3), PROFILE, 64);
    for (PgRow pg : map.getPgsList()) {
      Map<Long, Long> perDomain =
          pg.getSlotsList().stream()
              .collect(Collectors.groupingBy(s -> s.getDriveLow() % 3, Collectors.counting()));
      assertEquals(Map.of(0L, 2L, 1L, 2L, 2L, 2L), perDomain);
    }
  }

  @Test
  void drivesShareTheWorkOfEverySlot() {
    PgMapRow map = Placement.first(drives(6, i -> "d" + i), PROFILE, 60);
    for (int slot = 0; slot < PROFILE.shards(); slot++) {
      int at = slot;
      Map<Long, Long> counts =
          map.getPgsList().stream()
              .collect(
                  Collectors.groupingBy(
                      pg -> pg.getSlots(at).getDriveLow(), Collectors.counting()));
      counts.values().forEach(count -> assertTrue(count >= 7 && count <= 13, counts.toString()));
    }
  }

  @Test
  void capacityDecidesHowMuchADriveGets() {
    List<DriveRow> drives = drives(20, i -> "d" + i);
    drives.set(0, drives.get(0).toBuilder().setCapacityBytes(2L << 40).build());
    Map<Long, Integer> uses = uses(Placement.first(drives, PROFILE, 2048));
    int ordinary = uses.getOrDefault(2L, 0);
    int twice = uses.getOrDefault(1L, 0);
    assertTrue(twice > 1.5 * ordinary && twice < 2.3 * ordinary, twice + " and " + ordinary);
  }

  @Test
  void aLostDriveMovesOnlyItsOwnSlots() {
    List<DriveRow> drives = drives(12, i -> "d" + i);
    PgMapRow before = Placement.first(drives, PROFILE, 256);
    PgMapRow after = Placement.next(level -> drives.subList(0, 11), before);
    assertEquals(2, after.getEpoch());
    int moved = 0;
    for (int pg = 0; pg < before.getPgsCount(); pg++) {
      for (int slot = 0; slot < PROFILE.shards(); slot++) {
        long was = before.getPgs(pg).getSlots(slot).getDriveLow();
        if (was != after.getPgs(pg).getSlots(slot).getDriveLow()) {
          assertEquals(12, was);
          moved++;
        }
      }
    }
    assertEquals(uses(before).get(12L), moved);
  }

  @Test
  void tooFewDrivesAreRefused() {
    assertThrows(
        IllegalArgumentException.class,
        () -> Placement.first(drives(5, i -> "d" + i), PROFILE, 64));
  }
}
