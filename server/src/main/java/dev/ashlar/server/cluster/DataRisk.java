package dev.ashlar.server.cluster;

import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.layout.StripeLayout;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.PlacementMap;
import dev.ashlar.protocol.model.Profile;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What cannot be read now, and what the loss of one more drive would make unreadable. Two things
 * make a shard unavailable: it is owed, as the blob's row says, or its drive is away. They are
 * counted together.
 *
 * @param known whether that is all: metadata answers, and all that replaced drives had was looked
 *     for
 * @param allReadable whether everything can be read, as far as metadata tells
 * @param atRiskBlobs blobs that owe shards and can lose no more of them
 * @param unreadableBlobs blobs that owe shards and have too few left
 * @param atRiskGroups placement groups whose blobs can lose no more drives, in debt or not
 * @param unreadableGroups placement groups of which too few drives are there
 * @param uncountedDrives drives that were replaced, or declared lost, and whose blobs were not all
 *     looked at since
 */
public record DataRisk(
    boolean known,
    boolean allReadable,
    long atRiskBlobs,
    long unreadableBlobs,
    int atRiskGroups,
    int unreadableGroups,
    int uncountedDrives) {
  public static final DataRisk UNKNOWN = new DataRisk(false, false, 0, 0, 0, 0, 0);

  /** More blobs than these are not looked at one by one. */
  private static final int LOOKS_MAX = 1_000;

  private static final int PAGE = 64;

  /** Finds blobs that owe shards, as {@code MetadataClient.blobsInDebt} does. */
  public interface BlobsInDebt {
    List<BlobRow> page(int spare, @Nullable BlobId after, int max)
        throws MetadataUnavailableException;
  }

  /**
   * As the drives are now.
   *
   * @param down drives that cannot be read
   */
  public static DataRisk of(
      KnownDrives known, Set<UUID> down, Protection protection, BlobsInDebt blobsInDebt)
      throws MetadataUnavailableException {
    Set<UUID> uncounted = known.uncounted();
    Set<UUID> away = new HashSet<>(down);
    away.addAll(uncounted);
    Groups groups = Groups.of(known, away);
    Blobs blobs = new Blobs(known.map(), away, blobsInDebt);
    blobs.count(protection.levels(), groups.awayMax());
    return new DataRisk(
        protection.known() && blobs.isComplete,
        !blobs.mayHideUnreadable && blobs.unreadable == 0 && groups.unreadable() == 0,
        blobs.atRisk,
        blobs.unreadable,
        groups.atRisk(),
        groups.unreadable(),
        uncounted.size());
  }

  /**
   * @param awayMax slots of the group that lacks most
   */
  private record Groups(int atRisk, int unreadable, int awayMax) {
    static Groups of(KnownDrives known, Set<UUID> away) {
      PlacementMap map = known.map();
      Set<UUID> lost = new HashSet<>(away);
      lost.retainAll(known.holdingMisplaced());
      int atRisk = 0;
      int unreadable = 0;
      int awayMax = 0;
      for (int pg : map.groups()) {
        Profile profile = map.profile(pg);
        int there = FailureTolerance.there(map, pg, away, lost).size();
        awayMax = Math.max(awayMax, profile.shards() - there);
        boolean hasSpare = profile.parityShards() > 0; // else a loss is always one too many
        atRisk += hasSpare && there == profile.dataShards() ? 1 : 0;
        unreadable += there < profile.dataShards() ? 1 : 0;
      }
      return new Groups(atRisk, unreadable, awayMax);
    }
  }

  private static final class Blobs {
    private final PlacementMap map;
    private final Set<UUID> away;
    private final BlobsInDebt blobsInDebt;
    private int looked;
    private boolean isComplete = true;

    /** Some were not looked at that can lack more than they can spare. */
    private boolean mayHideUnreadable;

    private long atRisk;
    private long unreadable;

    Blobs(PlacementMap map, Set<UUID> away, BlobsInDebt blobsInDebt) {
      this.map = map;
      this.away = away;
      this.blobsInDebt = blobsInDebt;
    }

    /** Only where drives are away a blob may lack more than its row says. */
    void count(List<Protection.Level> levels, int awayMax) throws MetadataUnavailableException {
      for (Protection.Level level : levels) {
        if (level.spare() < 0) {
          unreadable += level.blobs();
        } else if (awayMax == 0) {
          atRisk += level.spare() == 0 ? level.blobs() : 0;
        } else if (level.spare() <= awayMax) {
          boolean areAllLookedAt = areAllLookedAt(level.spare());
          isComplete &= areAllLookedAt;
          mayHideUnreadable |= !areAllLookedAt && level.spare() < awayMax;
        }
      }
    }

    private boolean areAllLookedAt(int spare) throws MetadataUnavailableException {
      List<BlobRow> page = blobsInDebt.page(spare, null, PAGE);
      while (!page.isEmpty() && looked < LOOKS_MAX) {
        for (BlobRow row : page) {
          int left = spare - away(row);
          atRisk += left == 0 ? 1 : 0;
          unreadable += left < 0 ? 1 : 0;
        }
        looked += page.size();
        page = blobsInDebt.page(spare, BlobId.of(page.getLast().getId()), PAGE);
      }
      return page.isEmpty();
    }

    /** Slots that the row does not owe, and whose shards are on drives that are away. */
    private int away(BlobRow row) {
      StripeLayout layout = new StripeLayout(Profile.of(row.getProfile()), row.getLength());
      int count = 0;
      for (int slot = 0; slot < layout.profile().shards(); slot++) {
        int at = slot;
        boolean isCounted =
            row.getDebtSlotsList().contains(slot)
                || layout.shardLength(slot) == 0
                || row.getRelocatedShardsList().stream()
                    .anyMatch(place -> place.getSlot() == at && place.getOut());
        count += !isCounted && away.contains(map.location(row, slot)) ? 1 : 0;
      }
      return count;
    }
  }

  /**
   * Shows it as metrics.
   *
   * @param now null: not known
   */
  public static void measure(Supplier<@Nullable DataRisk> now, MeterRegistry meters) {
    KnownGauges<DataRisk> gauges = new KnownGauges<>("ashlar.risk.", now, meters);
    gauges.add("at.risk.blobs", "Blobs with debts and without spare", DataRisk::atRiskBlobs);
    gauges.add("unreadable.blobs", "Blobs that cannot be read now", DataRisk::unreadableBlobs);
    gauges.add(
        "at.risk.groups", "Placement groups that can lose no more drives", DataRisk::atRiskGroups);
    gauges.add(
        "unreadable.groups", "Placement groups with too few drives", DataRisk::unreadableGroups);
    gauges.add(
        "uncounted.drives",
        "Replaced or lost drives whose blobs were not all examined",
        DataRisk::uncountedDrives);
  }
}
