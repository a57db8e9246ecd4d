package dev.ashlar.protocol.model;

import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.message.FailureDomain;
import dev.ashlar.protocol.message.PastSlot;
import dev.ashlar.protocol.message.PgMapRow;
import dev.ashlar.protocol.message.PgRow;
import dev.ashlar.protocol.message.RelocatedShard;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/**
 * Which drive serves each slot of each placement group, and which did before: a shard stays where
 * it is until it has been copied.
 *
 * @param epoch counts up with every change
 * @param slotDrives per placement group, per slot (k + m of them), the drive of new data
 * @param past per placement group whose slots were moved, what they were, the oldest first
 * @param failureDomain over which the slots are spread
 */
public record PlacementMap(
    long epoch,
    Profile profile,
    List<List<UUID>> slotDrives,
    Map<Integer, List<Past>> past,
    FailureDomain failureDomain) {
  /** For so long at least it is known where a slot was: reads may be as old. */
  public static final long PAST_KEPT_MS = 24 * 3_600_000L;

  /**
   * The drive that a slot had before.
   *
   * @param until position in the log; rows that were settled before it mean this drive
   * @param movedAtMs log time
   */
  public record Past(int slot, UUID drive, long until, long movedAtMs) {}

  /**
   * A slot gets another drive.
   *
   * @param drive that has it from now on
   */
  public record Move(int pg, int slot, UUID drive) {}

  public PlacementMap {
    slotDrives = slotDrives.stream().map(List::copyOf).toList();
    past = Map.copyOf(past);
    if (slotDrives.isEmpty()) {
      throw new IllegalArgumentException("a placement map needs a placement group");
    }
    for (List<UUID> slots : slotDrives) {
      if (slots.size() != profile.shards() || slots.stream().distinct().count() != slots.size()) {
        throw new IllegalArgumentException(
            "needs " + profile.shards() + " distinct drives: " + slots);
      }
    }
  }

  /** A map without a past, over drives. */
  public PlacementMap(long epoch, Profile profile, List<List<UUID>> slotDrives) {
    this(epoch, profile, slotDrives, Map.of(), FailureDomain.DOMAIN_DRIVE);
  }

  public static PlacementMap of(PgMapRow row) {
    List<List<UUID>> slots = new ArrayList<>();
    Map<Integer, List<Past>> past = new HashMap<>();
    for (PgRow pg : row.getPgsList()) {
      if (pg.getPastCount() > 0) {
        past.put(slots.size(), pg.getPastList().stream().map(PlacementMap::past).toList());
      }
      slots.add(pg.getSlotsList().stream().map(DriveId::idOf).toList());
    }
    return new PlacementMap(
        row.getEpoch(), Profile.of(row.getProfile()), slots, past, row.getFailureDomain());
  }

  private static Past past(PastSlot row) {
    UUID drive = new UUID(row.getDriveHigh(), row.getDriveLow());
    return new Past(row.getSlot(), drive, row.getUntil(), row.getMovedAtMs());
  }

  public PgMapRow toMessage() {
    PgMapRow.Builder row =
        PgMapRow.newBuilder()
            .setEpoch(epoch)
            .setProfile(profile.toMessage())
            .setFailureDomain(failureDomain);
    for (int pg = 0; pg < pgCount(); pg++) {
      PgRow.Builder slots = PgRow.newBuilder().setPg(pg);
      for (UUID drive : slotDrives.get(pg)) {
        slots.addSlots(
            DriveRow.newBuilder()
                .setDriveHigh(drive.getMostSignificantBits())
                .setDriveLow(drive.getLeastSignificantBits()));
      }
      for (Past before : pastOf(pg)) {
        slots.addPast(
            PastSlot.newBuilder()
                .setSlot(before.slot())
                .setDriveHigh(before.drive().getMostSignificantBits())
                .setDriveLow(before.drive().getLeastSignificantBits())
                .setUntil(before.until())
                .setMovedAtMs(before.movedAtMs()));
      }
      row.addPgs(slots);
    }
    return row.build();
  }

  public int pgCount() {
    return slotDrives.size();
  }

  /**
   * The profile of blobs in this placement group: how many slots it has, and how many can be lost.
   */
  public Profile profile(int pg) {
    if (pg < 0 || pg >= pgCount()) {
      throw new IllegalArgumentException("placement group " + pg + " of " + pgCount());
    }
    return profile;
  }

  /** Where new data of this slot goes. */
  public UUID drive(int pg, int slot) {
    return slotDrives.get(pg).get(slot);
  }

  /** What the group's slots were, the oldest first. */
  public List<Past> pastOf(int pg) {
    return past.getOrDefault(pg, List.of());
  }

  /**
   * Where the shard of this slot is, if it is not owed. Right for every row that is not newer than
   * this map: see {@link BlobRow#getEpoch}.
   */
  public UUID location(BlobRow row, int slot) {
    for (RelocatedShard place : row.getRelocatedShardsList()) {
      if (place.getSlot() == slot) {
        return driveOf(place);
      }
    }
    for (Past before : pastOf(row.getPg())) {
      if (before.slot() == slot && before.until() > row.getSettled()) {
        return before.drive();
      }
    }
    return drive(row.getPg(), slot);
  }

  public static UUID driveOf(RelocatedShard place) {
    return new UUID(place.getDriveHigh(), place.getDriveLow());
  }

  /** How many slots each drive has; those without any are not in it. */
  public Map<UUID, Long> slotCounts() {
    Map<UUID, Long> counts = new HashMap<>();
    slotDrives.forEach(pg -> pg.forEach(drive -> counts.merge(drive, 1L, Long::sum)));
    return counts;
  }

  /** All drives that may have anything of the blob. */
  public Set<UUID> holders(BlobRow row) {
    Set<UUID> holders = new HashSet<>(slotDrives.get(row.getPg()));
    pastOf(row.getPg()).forEach(before -> holders.add(before.drive()));
    row.getRelocatedShardsList().forEach(place -> holders.add(driveOf(place)));
    return holders;
  }

  /** Whether the slot was this drive's. */
  public boolean wasAt(int pg, int slot, UUID drive) {
    return pastOf(pg).stream()
        .anyMatch(before -> before.slot() == slot && before.drive().equals(drive));
  }

  /**
   * The map after these moves.
   *
   * @param position in the log at which they happen
   * @param nowMs log time
   * @param forgets whether what is long past is left out: all rows were looked at since
   * @throws IllegalArgumentException where a group would have a drive twice
   */
  public PlacementMap after(
      long newEpoch, List<Move> moves, long position, long nowMs, boolean forgets) {
    List<List<UUID>> slots = new ArrayList<>(slotDrives);
    Map<Integer, List<Past>> pasts = new HashMap<>();
    past.forEach(
        (pg, entries) -> {
          List<Past> kept =
              entries.stream()
                  .filter(entry -> !forgets || entry.movedAtMs() + PAST_KEPT_MS >= nowMs)
                  .toList();
          if (!kept.isEmpty()) {
            pasts.put(pg, kept);
          }
        });
    for (Move move : moves) {
      List<UUID> group = new ArrayList<>(slots.get(move.pg()));
      UUID before = group.set(move.slot(), move.drive());
      slots.set(move.pg(), group);
      List<Past> entries = new ArrayList<>(pasts.getOrDefault(move.pg(), List.of()));
      entries.add(new Past(move.slot(), before, position, nowMs));
      pasts.put(move.pg(), List.copyOf(entries));
    }
    return new PlacementMap(newEpoch, profile, slots, pasts, failureDomain);
  }

  /** What makes the other map's slots of this one's. */
  public List<Move> movesTo(PlacementMap other) {
    List<Move> moves = new ArrayList<>();
    for (int pg = 0; pg < pgCount(); pg++) {
      for (int slot = 0; slot < profile(pg).shards(); slot++) {
        if (!drive(pg, slot).equals(other.drive(pg, slot))) {
          moves.add(new Move(pg, slot, other.drive(pg, slot)));
        }
      }
    }
    return moves;
  }
}
