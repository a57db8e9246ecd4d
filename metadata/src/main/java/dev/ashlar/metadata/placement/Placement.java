package dev.ashlar.metadata.placement;

import dev.ashlar.protocol.message.AddedProfile;
import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.message.DriveStanding;
import dev.ashlar.protocol.message.FailureDomain;
import dev.ashlar.protocol.message.PgMapRow;
import dev.ashlar.protocol.message.PgRow;
import dev.ashlar.protocol.message.Registry;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.PlacedProfile;
import dev.ashlar.protocol.model.PlacementMap;
import dev.ashlar.protocol.model.Profile;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.Function;

/**
 * Computes placement maps. Each placement group takes the failure domains that score highest in
 * weighted rendezvous hashing, and in each the drive that scores highest; so a drive that comes or
 * goes moves only its share. With fewer domains than slots, domains are used again, as evenly as
 * possible. A drive that stays in a group keeps its slot. The same input makes the same map.
 */
public final class Placement {
  /** Enough groups for an even distribution, few enough to be listed. */
  public static final int PG_COUNT_DEFAULT = 256;

  /** For clusters: the number never changes, and must suffice for nodes that join later. */
  private static final int PG_COUNT_MIN = 2048;

  private static final int PG_COUNT_MAX = 4096;

  /** Enough slots per drive for an even distribution. */
  private static final int SLOTS_PER_DRIVE = 200;

  /** The slots of a profile that is added: they are sent in one command, with 20 bytes each. */
  private static final int ADDED_SLOTS_MAX = 49_152;

  private final Profile profile;
  private final Map<String, List<DriveRow>> domains = new TreeMap<>();

  /**
   * How often each drive has each slot: data slot 0 and the parity slots have most work with small
   * objects.
   */
  private final Map<UUID, int[]> uses = new HashMap<>();

  /**
   * @param title of the profile, for people
   */
  private Placement(List<DriveRow> drives, Profile profile, String title) {
    this.profile = profile;
    if (drives.size() < profile.shards()) {
      throw new IllegalArgumentException(
          title + " needs " + profile.shards() + " drives, there are " + drives.size());
    }
    List<DriveRow> ordered = new ArrayList<>(drives);
    ordered.sort(Comparator.comparing(DriveId::idOf));
    for (DriveRow drive : ordered) {
      domains.computeIfAbsent(drive.getFailureDomain(), name -> new ArrayList<>()).add(drive);
      uses.put(DriveId.idOf(drive), new int[profile.shards()]);
    }
  }

  /** The first map over these drives. */
  public static PgMapRow first(List<DriveRow> drives, Profile profile, int pgCount) {
    return PgMapRow.newBuilder()
        .setEpoch(1)
        .setProfile(profile.toMessage())
        .addAllPgs(new Placement(drives, profile, profile.toString()).groups(0, pgCount, List.of()))
        .build();
  }

  /**
   * The first map of a cluster, over the widest failure domains of which there are enough.
   *
   * @throws IllegalArgumentException when there are fewer drives than slots
   */
  public static PgMapRow first(Registry registry, Profile profile) {
    FailureDomains domains = new FailureDomains(registry);
    FailureDomain level = domains.widest(profile.shards());
    int pgCount = groupsFor(profile, registry.getDrivesCount());
    return first(domains.drives(level), profile, pgCount).toBuilder()
        .setFailureDomain(level)
        .build();
  }

  private static int groupsFor(Profile profile, int drives) {
    int wanted = SLOTS_PER_DRIVE * drives / profile.shards();
    return Math.clamp(wanted, PG_COUNT_MIN, PG_COUNT_MAX);
  }

  /**
   * The groups of one more profile, behind all others, over the drives that are in. Those of a
   * cluster are spread over the widest failure domains of which there are enough.
   *
   * @param map not older than the registry
   * @throws IllegalArgumentException when there are fewer drives than slots
   */
  public static AddedProfile added(
      Registry registry, PlacementMap map, String name, Profile profile) {
    Registry.Builder in = registry.toBuilder().clearDrives();
    registry.getDrivesList().stream()
        .filter(row -> row.getStanding() == DriveStanding.STANDING_IN)
        .forEach(in::addDrives);
    FailureDomains domains = new FailureDomains(in.build());
    boolean isLocal = registry.getNodesCount() == 0;
    FailureDomain level = isLocal ? FailureDomain.DOMAIN_DRIVE : domains.widest(profile.shards());
    int wanted = isLocal ? PG_COUNT_DEFAULT : groupsFor(profile, in.getDrivesCount());
    int pgCount = Math.min(wanted, ADDED_SLOTS_MAX / profile.shards());
    Placement placement = new Placement(domains.drives(level), profile, name + " " + profile);
    return AddedProfile.newBuilder()
        .setName(name)
        .setProfile(profile.toMessage())
        .setFailureDomain(level)
        .addAllPgs(placement.groups(map.slotDrives().size(), pgCount, List.of()))
        .build();
  }

  /**
   * The map that follows the present one, without its past.
   *
   * @param drives all that get slots, with their failure domains of a level
   * @throws IllegalArgumentException when there are fewer drives than a profile has slots
   */
  public static PgMapRow next(Function<FailureDomain, List<DriveRow>> drives, PgMapRow present) {
    PgMapRow.Builder next = present.toBuilder().setEpoch(present.getEpoch() + 1).clearPgs();
    PlacementMap map = PlacementMap.of(present);
    boolean isOnly = map.present().size() == 1;
    for (PlacedProfile placed : map.present()) {
      Profile profile = placed.profile();
      String title = isOnly ? profile.toString() : placed.name() + " " + profile;
      List<PgRow> before =
          placed.number() == 0
              ? present.getPgsList()
              : present.getAdded(placed.number() - 1).getPgsList();
      List<PgRow> groups =
          new Placement(drives.apply(placed.failureDomain()), profile, title)
              .groups(placed.firstGroup(), placed.groupCount(), before);
      if (placed.number() == 0) {
        next.addAllPgs(groups);
      } else {
        next.getAddedBuilder(placed.number() - 1).clearPgs().addAllPgs(groups);
      }
    }
    return next.build();
  }

  /**
   * @param before the present ones, or none
   */
  private List<PgRow> groups(int first, int count, List<PgRow> before) {
    List<PgRow> groups = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      int pg = first + i;
      List<DriveRow> slots = before.isEmpty() ? List.of() : before.get(i).getSlotsList();
      groups.add(arrange(pg, choose(pg), slots));
    }
    return groups;
  }

  private record Scored<T>(T item, double score) {}

  /** As many drives as there are slots, those of the best domain first. */
  private List<DriveRow> choose(int pg) {
    List<List<DriveRow>> ranked = new ArrayList<>();
    domains.entrySet().stream()
        .map(
            domain ->
                new Scored<>(
                    domain.getValue(),
                    score(
                        hash(pg, domain.getKey().getBytes(StandardCharsets.UTF_8)),
                        domain.getValue().stream().mapToDouble(Placement::weight).sum())))
        .sorted(Comparator.comparingDouble(scored -> -scored.score()))
        .forEach(scored -> ranked.add(rankDrives(pg, scored.item())));
    List<DriveRow> chosen = new ArrayList<>();
    for (int round = 0; chosen.size() < profile.shards(); round++) {
      for (List<DriveRow> drives : ranked) {
        if (round < drives.size() && chosen.size() < profile.shards()) {
          chosen.add(drives.get(round));
        }
      }
    }
    return chosen;
  }

  private static List<DriveRow> rankDrives(int pg, List<DriveRow> drives) {
    return drives.stream()
        .map(drive -> new Scored<>(drive, score(hash(pg, DriveId.idOf(drive)), weight(drive))))
        .sorted(Comparator.comparingDouble(scored -> -scored.score()))
        .map(Scored::item)
        .toList();
  }

  static double weight(DriveRow drive) {
    return Math.max(1, drive.getCapacityBytes());
  }

  /** Weighted rendezvous: the greatest score wins in proportion to its weight. */
  private static double score(long hash, double weight) {
    double uniform = ((hash >>> 11) + 0.5) * 0x1p-53; // in (0, 1)
    return -weight / Math.log(uniform);
  }

  /**
   * Drives that stay keep their slots; the others fill free slots, evenly over the placement
   * groups.
   */
  private PgRow arrange(int pg, List<DriveRow> chosen, List<DriveRow> before) {
    DriveRow[] slots = new DriveRow[profile.shards()];
    List<DriveRow> free = new ArrayList<>(chosen);
    for (int slot = 0; slot < before.size(); slot++) {
      UUID served = DriveId.idOf(before.get(slot));
      for (DriveRow drive : chosen) {
        if (DriveId.idOf(drive).equals(served)) {
          slots[slot] = drive;
          free.remove(drive);
        }
      }
    }
    PgRow.Builder row = PgRow.newBuilder().setPg(pg);
    for (int i = 0; i < slots.length; i++) {
      int slot = i;
      if (slots[slot] == null) {
        slots[slot] =
            free.stream()
                .min(Comparator.comparingDouble(drive -> uses(drive)[slot] / weight(drive)))
                .orElseThrow(() -> new IllegalStateException("no drive left for slot " + slot));
        free.remove(slots[slot]);
      }
      uses(slots[slot])[slot]++;
      row.addSlots(
          DriveRow.newBuilder()
              .setDriveHigh(slots[slot].getDriveHigh())
              .setDriveLow(slots[slot].getDriveLow()));
    }
    return row.build();
  }

  private int[] uses(DriveRow drive) {
    int[] counts = uses.get(DriveId.idOf(drive));
    if (counts == null) {
      throw new IllegalStateException("unknown drive " + DriveId.idOf(drive));
    }
    return counts;
  }

  private static long hash(int pg, UUID id) {
    return mix(mix(mix(pg) ^ id.getMostSignificantBits()) ^ id.getLeastSignificantBits());
  }

  /** FNV-1a, mixed. */
  private static long hash(int pg, byte[] name) {
    long hash = 0xCBF29CE484222325L;
    for (byte b : name) {
      hash = (hash ^ (b & 0xFF)) * 0x100000001B3L;
    }
    return mix(mix(pg) ^ hash);
  }

  /** The finaliser of SplitMix64 (Steele, Lea, Flood 2014). */
  private static long mix(long value) {
    long hash = value + 0x9E3779B97F4A7C15L;
    hash = (hash ^ (hash >>> 30)) * 0xBF58476D1CE4E5B9L;
    hash = (hash ^ (hash >>> 27)) * 0x94D049BB133111EBL;
    return hash ^ (hash >>> 31);
  }
}
