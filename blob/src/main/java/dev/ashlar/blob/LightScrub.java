package dev.ashlar.blob;

import dev.ashlar.blob.Suspects.Suspect;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.client.ShardView;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.ShardId;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Compares what a drive should have, by the rows of its placement groups, with what its index says
 * that it has. What seems to lack becomes a suspect: the drive or the row may have changed between
 * the two looks.
 */
public final class LightScrub {
  private static final int PAGE = 200;

  /** It rests so many times as long as it works: a fifth of one core at most. */
  private static final int REST_FACTOR = 4;

  private static final long FULL_PAUSE_MS = 100;

  private final MetadataClient metadata;
  private final Suspects suspects;

  /** What a drive has, by its index. */
  public interface Inventory {
    /**
     * The first block of the shard of which anything is not there as the view says, or null.
     *
     * @param length of the shard in that state
     */
    @Nullable ByteRange firstMissing(ShardId shard, ShardView view, long length)
        throws ShardException;
  }

  /**
   * What was looked at.
   *
   * @param shards that the drive should have
   * @param suspects of these, those that it seems to lack
   */
  public record Found(long shards, long suspects) {
    Found plus(Found other) {
      return new Found(shards + other.shards, suspects + other.suspects);
    }
  }

  public LightScrub(MetadataClient metadata, Suspects suspects) {
    this.metadata = metadata;
    this.suspects = suspects;
  }

  /** Looks for all that the drive should have; takes long, and rests in between. */
  public Found look(UUID drive, Inventory inventory)
      throws MetadataUnavailableException, ShardException, InterruptedException {
    Found found = new Found(0, 0);
    List<List<UUID>> groups = metadata.placement().slotDrives();
    for (int pg = 0; pg < groups.size(); pg++) {
      int slot = groups.get(pg).indexOf(drive);
      if (slot >= 0) {
        found = found.plus(look(pg, slot, inventory));
      }
    }
    return found;
  }

  private Found look(int pg, int slot, Inventory inventory)
      throws MetadataUnavailableException, ShardException, InterruptedException {
    Found found = new Found(0, 0);
    BlobId after = null;
    List<BlobRow> page;
    do {
      long beganNanos = System.nanoTime();
      page = metadata.group(pg, after, PAGE);
      for (BlobRow row : page) {
        found = found.plus(look(row, slot, inventory));
      }
      after = page.isEmpty() ? null : BlobId.of(page.getLast().getId());
      TimeUnit.NANOSECONDS.sleep(REST_FACTOR * (System.nanoTime() - beganNanos));
    } while (page.size() == PAGE);
    return found;
  }

  private Found look(BlobRow row, int slot, Inventory inventory)
      throws ShardException, InterruptedException {
    long length = WindowRead.layout(row).shardLength(slot);
    if (row.getReferences() == 0 || row.getDebtSlotsList().contains(slot) || length == 0) {
      return new Found(0, 0);
    }
    ShardId shard = ShardId.of(row, slot);
    ByteRange missing = inventory.firstMissing(shard, ShardViews.of(row, slot), length);
    if (missing == null) {
      return new Found(1, 0);
    }
    while (!suspects.add(new Suspect(shard, missing, ShardFault.MISSING))) {
      TimeUnit.MILLISECONDS.sleep(FULL_PAUSE_MS);
    }
    return new Found(1, 1);
  }
}
