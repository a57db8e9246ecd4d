package dev.ashlar.blob.scrub;

import dev.ashlar.blob.context.BlobRows;
import dev.ashlar.blob.context.SuspectShardQueue;
import dev.ashlar.blob.context.SuspectShardQueue.Suspect;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.client.ShardView;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.PlacementMap;
import dev.ashlar.protocol.model.ShardId;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Compares the shards that a drive should have, by the rows of its present and past placement
 * groups, with the drive's index. Shards that seem missing are queued as suspects, because the
 * drive or the row may have changed between the two lookups.
 */
public final class LightScrub {
  private static final int PAGE = 200;

  /** Pause relative to work: a scrub uses at most a fifth of one core. */
  private static final int REST_FACTOR = 4;

  private static final long FULL_PAUSE_MS = 100;

  private final MetadataClient metadata;
  private final SuspectShardQueue suspects;

  /** A drive's index. */
  public interface Inventory {
    /**
     * The first block of the shard that is not completely present in this state, or null.
     *
     * @param length of the shard in this state
     */
    @Nullable ByteRange firstMissing(ShardId shard, ShardView view, long length)
        throws ShardException;
  }

  /**
   * Result of a scrub.
   *
   * @param shards number of shards that the drive should have
   * @param suspects how many of these seem missing
   */
  public record Found(long shards, long suspects) {
    Found plus(Found other) {
      return new Found(shards + other.shards, suspects + other.suspects);
    }
  }

  public LightScrub(MetadataClient metadata, SuspectShardQueue suspects) {
    this.metadata = metadata;
    this.suspects = suspects;
  }

  /** Scrubs one drive; takes long, with pauses. */
  public Found look(UUID drive, Inventory inventory)
      throws MetadataUnavailableException, ShardException, InterruptedException {
    Found found = new Found(0, 0);
    // A shard that still has to move may belong to any placement group.
    boolean isAnywhere =
        metadata.registry().getLoadsList().stream().map(DriveId::idOf).anyMatch(drive::equals);
    PlacementMap map = metadata.placement();
    for (int pg : map.groups()) {
      if (isAnywhere || map.slots(pg).contains(drive) || wasIn(map, pg, drive)) {
        found = found.plus(look(pg, drive, inventory));
      }
    }
    return found;
  }

  private static boolean wasIn(PlacementMap map, int pg, UUID drive) {
    return map.pastOf(pg).stream().anyMatch(past -> past.drive().equals(drive));
  }

  private Found look(int pg, UUID drive, Inventory inventory)
      throws MetadataUnavailableException, ShardException, InterruptedException {
    Found found = new Found(0, 0);
    BlobId after = null;
    List<BlobRow> page;
    do {
      long beganNanos = System.nanoTime();
      page = metadata.blobsOfPlacementGroup(pg, after, PAGE);
      for (BlobRow row : page) {
        found = found.plus(look(row, drive, inventory));
      }
      after = page.isEmpty() ? null : BlobId.of(page.getLast().getId());
      TimeUnit.NANOSECONDS.sleep(REST_FACTOR * (System.nanoTime() - beganNanos));
    } while (page.size() == PAGE);
    return found;
  }

  /** Checks the locations in the row: while slots move, a group's shards are on further drives. */
  private Found look(BlobRow row, UUID drive, Inventory inventory)
      throws ShardException, InterruptedException {
    Found found = new Found(0, 0);
    PlacementMap map = metadata.placement(row.getEpoch());
    for (int slot = 0; slot < BlobRows.layout(row).profile().shards(); slot++) {
      if (map.location(row, slot).equals(drive)) {
        found = found.plus(look(row, slot, inventory));
      }
    }
    return found;
  }

  private Found look(BlobRow row, int slot, Inventory inventory)
      throws ShardException, InterruptedException {
    long length = BlobRows.layout(row).shardLength(slot);
    if (row.getReferences() == 0 || row.getDebtSlotsList().contains(slot) || length == 0) {
      return new Found(0, 0);
    }
    ShardId shard = ShardId.of(row, slot);
    ByteRange missing = inventory.firstMissing(shard, BlobRows.view(row, slot), length);
    if (missing == null) {
      return new Found(1, 0);
    }
    while (!suspects.add(new Suspect(shard, missing, ShardFault.MISSING))) {
      TimeUnit.MILLISECONDS.sleep(FULL_PAUSE_MS);
    }
    return new Found(1, 1);
  }
}
