package dev.ashlar.protocol.model;

import dev.ashlar.protocol.message.AddedProfile;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.message.FailureDomain;
import dev.ashlar.protocol.message.PastSlot;
import dev.ashlar.protocol.message.PgMapRow;
import dev.ashlar.protocol.message.PgRow;
import dev.ashlar.protocol.message.ProfileValue;
import dev.ashlar.protocol.message.RelocatedShard;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.UUID;
import java.util.stream.IntStream;

/**
 * Which drive serves each slot of each placement group, and which did before: a shard stays where
 * it is until it has been copied. Every profile of the store has its own range of groups. A map
 * always has at least the profile that the store was made with.
 *
 * @param epoch counts up with every change
 * @param profiles by number, removed ones included; their ranges of groups follow each other
 * @param standardNumber of the profile of new blobs
 * @param slotDrives per placement group, per slot (k + m of them), the drive of new data; no slots
 *     in groups of removed profiles
 * @param past per placement group whose slots were moved, what they were, the oldest first
 */
public record PlacementMap(
    long epoch,
    List<PlacedProfile> profiles,
    int standardNumber,
    List<List<UUID>> slotDrives,
    Map<Integer, List<Past>> past) {
  /** For so long at least it is known where a slot was: reads may be as old. */
  public static final long PAST_KEPT_MS = 24 * 3_600_000L;

  /** A drive that nobody has. */
  public static final UUID NOWHERE = new UUID(0, 0);

  /** No profile has more placement groups than this. */
  private static final int REMOVED_GROUPS_MAX = 1 << 20;

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
    profiles = List.copyOf(profiles);
    slotDrives = slotDrives.stream().map(List::copyOf).toList();
    past = Map.copyOf(past);
    int groups = 0;
    for (int number = 0; number < profiles.size(); number++) {
      PlacedProfile placed = profiles.get(number);
      if (placed.number() != number || placed.firstGroup() != groups || placed.groupCount() < 1) {
        throw new IllegalArgumentException("placement groups of profile " + number + ": " + placed);
      }
      groups = placed.endGroup();
    }
    if (groups == 0 || groups != slotDrives.size()) {
      throw new IllegalArgumentException(slotDrives.size() + " placement groups, of " + groups);
    }
    if (standardNumber < 0
        || standardNumber >= profiles.size()
        || profiles.get(standardNumber).isRemoved()) {
      throw new IllegalArgumentException("no default profile " + standardNumber);
    }
    for (PlacedProfile placed : profiles) {
      checkSlots(placed, slotDrives);
    }
  }

  private static void checkSlots(PlacedProfile placed, List<List<UUID>> slotDrives) {
    int needed = placed.isRemoved() ? 0 : placed.profile().shards();
    for (List<UUID> slots : slotDrives.subList(placed.firstGroup(), placed.endGroup())) {
      if (slots.size() != needed || slots.stream().distinct().count() != slots.size()) {
        throw new IllegalArgumentException("needs " + needed + " distinct drives: " + slots);
      }
    }
  }

  /** A map of one profile without a past, over drives. */
  public PlacementMap(long epoch, Profile profile, List<List<UUID>> slotDrives) {
    this(
        epoch,
        List.of(
            new PlacedProfile(
                0,
                PlacedProfile.FIRST,
                profile,
                0,
                slotDrives.size(),
                FailureDomain.DOMAIN_DRIVE,
                false)),
        0,
        slotDrives,
        Map.of());
  }

  public static PlacementMap of(PgMapRow row) {
    Rows rows = new Rows();
    rows.add(
        PlacedProfile.FIRST,
        row.getProfile(),
        row.getFailureDomain(),
        row.getPgsList(),
        row.getRemovedPgs());
    for (AddedProfile added : row.getAddedList()) {
      rows.add(
          added.getName(),
          added.getProfile(),
          added.getFailureDomain(),
          added.getPgsList(),
          added.getRemovedPgs());
    }
    return new PlacementMap(
        row.getEpoch(), rows.profiles, row.getStandard(), rows.slots, rows.past);
  }

  /** Collects the profiles of a row and their groups. */
  private static final class Rows {
    private final List<PlacedProfile> profiles = new ArrayList<>();
    private final List<List<UUID>> slots = new ArrayList<>();
    private final Map<Integer, List<Past>> past = new HashMap<>();

    void add(
        String name, ProfileValue profile, FailureDomain domain, List<PgRow> pgs, int removed) {
      if (removed < 0 || (removed > 0 && !pgs.isEmpty()) || removed > REMOVED_GROUPS_MAX) {
        throw new IllegalArgumentException(removed + " removed placement groups of " + name);
      }
      int first = slots.size();
      for (PgRow pg : pgs) {
        if (pg.getPastCount() > 0) {
          past.put(slots.size(), pg.getPastList().stream().map(PlacementMap::past).toList());
        }
        slots.add(pg.getSlotsList().stream().map(DriveId::idOf).toList());
      }
      slots.addAll(Collections.nCopies(removed, List.of()));
      profiles.add(
          new PlacedProfile(
              profiles.size(),
              name,
              Profile.of(profile),
              first,
              slots.size() - first,
              domain,
              removed > 0));
    }
  }

  private static Past past(PastSlot row) {
    UUID drive = new UUID(row.getDriveHigh(), row.getDriveLow());
    return new Past(row.getSlot(), drive, row.getUntil(), row.getMovedAtMs());
  }

  public PgMapRow toMessage() {
    PlacedProfile first = profiles.getFirst();
    PgMapRow.Builder row =
        PgMapRow.newBuilder()
            .setEpoch(epoch)
            .setProfile(first.profile().toMessage())
            .addAllPgs(rows(first))
            .setFailureDomain(first.failureDomain())
            .setStandard(standardNumber)
            .setRemovedPgs(first.isRemoved() ? first.groupCount() : 0);
    for (PlacedProfile placed : profiles.subList(1, profiles.size())) {
      row.addAdded(
          AddedProfile.newBuilder()
              .setName(placed.name())
              .setProfile(placed.profile().toMessage())
              .setFailureDomain(placed.failureDomain())
              .addAllPgs(rows(placed))
              .setRemovedPgs(placed.isRemoved() ? placed.groupCount() : 0));
    }
    return row.build();
  }

  private List<PgRow> rows(PlacedProfile placed) {
    return placed.isRemoved()
        ? List.of()
        : IntStream.range(placed.firstGroup(), placed.endGroup()).mapToObj(this::row).toList();
  }

  private PgRow row(int pg) {
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
    return slots.build();
  }

  /** The placement groups of all profiles that are not removed, ascending. */
  public List<Integer> groups() {
    return present().stream()
        .flatMap(
            placed -> IntStream.range(placed.firstGroup(), placed.endGroup()).mapToObj(pg -> pg))
        .toList();
  }

  /** The profiles that are not removed, by number. */
  public List<PlacedProfile> present() {
    return profiles.stream().filter(placed -> !placed.isRemoved()).toList();
  }

  /** The default profile: that of new blobs of which nobody says otherwise. */
  public PlacedProfile standard() {
    return profiles.get(standardNumber);
  }

  /** The profile that a storage class means; empty if there is no such class. */
  public Optional<PlacedProfile> ofClass(String name) {
    return name.equals(PlacedProfile.STANDARD)
        ? Optional.of(standard())
        : present().stream().filter(placed -> placed.name().equals(name)).findFirst();
  }

  /** The storage class of blobs of this profile. */
  public String classOf(PlacedProfile placed) {
    return placed.number() == standardNumber ? PlacedProfile.STANDARD : placed.name();
  }

  /** The profile with this number; empty if there is none, or it was removed. */
  public Optional<PlacedProfile> numbered(int number) {
    return number >= 0 && number < profiles.size() && !profiles.get(number).isRemoved()
        ? Optional.of(profiles.get(number))
        : Optional.empty();
  }

  /** The placement group of a blob; empty if this map does not have its profile. */
  public OptionalInt group(BlobId id) {
    return id.profile() < profiles.size()
        ? OptionalInt.of(profiles.get(id.profile()).group(id))
        : OptionalInt.empty();
  }

  /** The profile that this placement group belongs to. */
  public PlacedProfile placed(int pg) {
    for (PlacedProfile placed : profiles) {
      if (placed.hasGroup(pg)) {
        return placed;
      }
    }
    throw new IllegalArgumentException("placement group " + pg + " of " + slotDrives.size());
  }

  /**
   * The profile of blobs in this placement group: how many slots it has, and how many can be lost.
   */
  public Profile profile(int pg) {
    return placed(pg).profile();
  }

  /**
   * Where new data of this slot goes; {@link #NOWHERE} if this map is too old to have the group, or
   * its profile was removed since the caller learned of the blob.
   */
  public UUID drive(int pg, int slot) {
    List<UUID> slots = slots(pg);
    return slots.isEmpty() ? NOWHERE : slots.get(slot);
  }

  /**
   * The drives of the group's slots; none if this map is too old to have the group, or its profile
   * was removed.
   */
  public List<UUID> slots(int pg) {
    return pg < slotDrives.size() ? slotDrives.get(pg) : List.of();
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
    return counts(slotDrives);
  }

  /** How many slots of a profile each drive has; those without any are not in it. */
  public Map<UUID, Long> slotCounts(PlacedProfile placed) {
    return counts(slotDrives.subList(placed.firstGroup(), placed.endGroup()));
  }

  private static Map<UUID, Long> counts(List<List<UUID>> groups) {
    Map<UUID, Long> counts = new HashMap<>();
    groups.forEach(pg -> pg.forEach(drive -> counts.merge(drive, 1L, Long::sum)));
    return counts;
  }

  /**
   * All drives that may have anything of the blob; {@link #NOWHERE} is among them if this map does
   * not know.
   */
  public Set<UUID> holders(BlobRow row) {
    Set<UUID> holders = new HashSet<>(slots(row.getPg()));
    if (holders.isEmpty()) {
      holders.add(NOWHERE);
    }
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
    return new PlacementMap(newEpoch, profiles, standardNumber, slots, pasts);
  }

  /** What makes the other map's slots of this one's. */
  public List<Move> movesTo(PlacementMap other) {
    List<Move> moves = new ArrayList<>();
    for (int pg = 0; pg < slotDrives.size(); pg++) {
      for (int slot = 0; slot < slotDrives.get(pg).size(); slot++) {
        if (!drive(pg, slot).equals(other.drive(pg, slot))) {
          moves.add(new Move(pg, slot, other.drive(pg, slot)));
        }
      }
    }
    return moves;
  }
}
