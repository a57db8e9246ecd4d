package dev.ashlar.metadata.placement;

import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.message.FailureDomain;
import dev.ashlar.protocol.message.PgMapRow;
import dev.ashlar.protocol.message.PgRow;
import dev.ashlar.protocol.message.Registry;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.Profile;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

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

  private final Profile profile;
  private final Map<String, List<DriveRow>> domains = new TreeMap<>();

  /**
   * How often each drive has each slot: data slot 0 and the parity slots have most work with small
   * objects.
   */
  private final Map<UUID, int[]> uses = new HashMap<>();

  private Placement(List<DriveRow> drives, Profile profile) {
    this.profile = profile;
    if (drives.size() < profile.shards()) {
      throw new IllegalArgumentException(
          profile + " needs " + profile.shards() + " drives, there are " + drives.size());
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
    return new Placement(drives, profile).compute(null, 1, pgCount);
  }

  /**
   * The first map of a cluster, over the widest failure domains of which there are enough.
   *
   * @throws IllegalArgumentException when there are fewer drives than slots
   */
  public static PgMapRow first(Registry registry, Profile profile) {
    FailureDomains domains = new FailureDomains(registry);
    FailureDomain level = domains.widest(profile.shards());
    int wanted = SLOTS_PER_DRIVE * registry.getDrivesCount() / profile.shards();
    int pgCount = Math.clamp(wanted, PG_COUNT_MIN, PG_COUNT_MAX);
    return first(domains.drives(level), profile, pgCount).toBuilder()
        .setFailureDomain(level)
        .build();
  }

  /** The map that follows the present one, over these drives. */
  public static PgMapRow next(List<DriveRow> drives, PgMapRow present) {
    return new Placement(drives, Profile.of(present.getProfile()))
        .compute(present, present.getEpoch() + 1, present.getPgsCount()).toBuilder()
            .setFailureDomain(present.getFailureDomain())
            .build();
  }

  private PgMapRow compute(@Nullable PgMapRow present, long epoch, int pgCount) {
    PgMapRow.Builder map = PgMapRow.newBuilder().setEpoch(epoch).setProfile(profile.toMessage());
    for (int pg = 0; pg < pgCount; pg++) {
      List<DriveRow> before = present == null ? List.of() : present.getPgs(pg).getSlotsList();
      map.addPgs(arrange(pg, choose(pg), before));
    }
    return map.build();
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
