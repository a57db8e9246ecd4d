package dev.ashlar.metadata.state.blob;

import dev.ashlar.metadata.state.apply.ApplyContext;
import dev.ashlar.metadata.table.Keys;
import dev.ashlar.metadata.table.Overlay;
import dev.ashlar.protocol.layout.StripeLayout;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.DriveLoad;
import dev.ashlar.protocol.message.RelocatedShard;
import dev.ashlar.protocol.model.PlacementMap;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Relocated shards. A change of the placement map writes no blob rows: a row refers to the map as
 * it was when the row was settled. When the row is settled again, the resulting locations are
 * written into it.
 */
final class RelocatedShards {
  private RelocatedShards() {}

  /**
   * The row, settled at the present log position.
   *
   * @param before the row as settled before
   * @param placed slots whose shards are now on these drives
   */
  static BlobRow settled(
      ApplyContext context,
      BlobRow before,
      BlobRow after,
      Collection<Integer> debts,
      Map<Integer, UUID> placed) {
    PlacementMap map = context.placement();
    BlobRow.Builder row =
        Acknowledgements.withMisses(context, before, after).toBuilder()
            .clearDebtSlots()
            .addAllDebtSlots(debts)
            .setSettled(context.freshId())
            .setEpoch(map.epoch())
            .clearRelocatedShards();
    boolean isMoved =
        !placed.isEmpty()
            || before.getRelocatedShardsCount() > 0
            || !map.pastOf(row.getPg()).isEmpty();
    if (isMoved) {
      List<RelocatedShard> places = places(context, before, placed);
      StripeLayout layout = Debts.layout(after);
      if (places.stream().anyMatch(place -> layout.shardLength(place.getSlot()) > 0)) {
        row.addAllRelocatedShards(places);
      }
    }
    return row.build();
  }

  /**
   * The relocated slots, including those without bytes: their future bytes must not be put on a
   * drive that still has another slot's shard.
   */
  private static List<RelocatedShard> places(
      ApplyContext context, BlobRow before, Map<Integer, UUID> placed) {
    PlacementMap map = context.placement();
    List<RelocatedShard> places = new ArrayList<>();
    for (int slot = 0; slot < map.profile(before.getPg()).shards(); slot++) {
      UUID place = placed.getOrDefault(slot, map.location(before, slot));
      if (!place.equals(map.drive(before.getPg(), slot))) {
        places.add(
            RelocatedShard.newBuilder()
                .setSlot(slot)
                .setDriveHigh(place.getMostSignificantBits())
                .setDriveLow(place.getLeastSignificantBits())
                .setOut(context.catalog().isOut(place))
                .build());
      }
    }
    return places;
  }

  /** Whether the newly placed shards are on drives without another shard of the blob. */
  static boolean isSpread(
      ApplyContext context, BlobRow row, Collection<Integer> debts, Map<Integer, UUID> placed) {
    PlacementMap map = context.placement();
    StripeLayout layout = Debts.layout(row);
    Set<UUID> taken = new HashSet<>();
    for (int slot = 0; slot < layout.profile().shards(); slot++) {
      boolean isThere = !debts.contains(slot) && layout.shardLength(slot) > 0;
      if (isThere && !placed.containsKey(slot)) {
        taken.add(map.location(row, slot));
      }
    }
    return placed.values().stream().allMatch(taken::add);
  }

  /** The slots with relocated shards. */
  static Set<Integer> moving(ApplyContext context, BlobRow row, Set<Integer> debts) {
    PlacementMap map = context.placement();
    StripeLayout layout = Debts.layout(row);
    Set<Integer> moving = new TreeSet<>();
    for (int slot = 0; slot < layout.profile().shards(); slot++) {
      if (!debts.contains(slot)
          && layout.shardLength(slot) > 0
          && !map.location(row, slot).equals(map.drive(row.getPg(), slot))) {
        moving.add(slot);
      }
    }
    return moving;
  }

  /** The relocated shards of a referenced blob that are recorded in its row and not in debt. */
  static List<RelocatedShard> toMove(@Nullable BlobRow row) {
    if (row == null || row.getReferences() == 0 || row.getRelocatedShardsCount() == 0) {
      return List.of();
    }
    StripeLayout layout = Debts.layout(row);
    return row.getRelocatedShardsList().stream()
        .filter(place -> layout.shardLength(place.getSlot()) > 0)
        .filter(place -> !row.getDebtSlotsList().contains(place.getSlot()))
        .toList();
  }

  /** Updates the counts of relocated shards per drive. */
  static void update(Overlay table, @Nullable BlobRow before, BlobRow after) {
    List<RelocatedShard> placesBefore = toMove(before);
    List<RelocatedShard> places = toMove(after);
    if (placesBefore.isEmpty() && places.isEmpty()) {
      return;
    }
    Map<UUID, long[]> changes = new HashMap<>();
    if (before != null) {
      placesBefore.forEach(place -> add(changes, before, place, -1));
    }
    places.forEach(place -> add(changes, after, place, 1));
    changes.forEach((drive, change) -> add(table, drive, change[0], change[1]));
  }

  private static void add(Map<UUID, long[]> changes, BlobRow row, RelocatedShard place, int sign) {
    long[] change = changes.computeIfAbsent(PlacementMap.driveOf(place), drive -> new long[2]);
    change[0] += sign;
    change[1] += sign * Debts.layout(row).shardLength(place.getSlot());
  }

  private static void add(Overlay table, UUID drive, long shards, long bytes) {
    if (shards == 0 && bytes == 0) {
      return;
    }
    byte[] key = Keys.driveLoad(drive);
    DriveLoad present =
        table
            .row(key, DriveLoad.parser())
            .orElse(
                DriveLoad.newBuilder()
                    .setDriveHigh(drive.getMostSignificantBits())
                    .setDriveLow(drive.getLeastSignificantBits())
                    .build());
    DriveLoad changed =
        present.toBuilder()
            .setShards(present.getShards() + shards)
            .setBytes(present.getBytes() + bytes)
            .build();
    if (changed.getShards() == 0) {
      table.delete(key);
    } else {
      table.put(key, changed.toByteArray());
    }
  }
}
