package dev.ashlar.metadata.state;

import dev.ashlar.metadata.table.Keys;
import dev.ashlar.metadata.table.Rows;
import dev.ashlar.metadata.table.Table;
import dev.ashlar.protocol.layout.StripeLayout;
import dev.ashlar.protocol.message.BlobKey;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.DebtLevel;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.PlacementMap;
import dev.ashlar.protocol.model.Profile;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Which shards a blob owes, and a table of those that owe any, the most endangered first. What a
 * drive lost as a whole is not written into the rows of all its blobs at once: it is owed by those
 * rows that were settled before the drive began its present life.
 */
final class Debts {
  private Debts() {}

  /** The slots whose shards are not known to be on their drives, ascending. */
  static SortedSet<Integer> owed(Step step, BlobRow row) {
    TreeSet<Integer> owed = new TreeSet<>(row.getDebtSlotsList());
    Catalog catalog = step.catalog();
    if (catalog.wasReplacedBehind(row.getSettled())) {
      PlacementMap map = step.placement();
      StripeLayout layout = layout(row);
      for (int slot = 0; slot < layout.profile().shards(); slot++) {
        boolean isLost = catalog.replacedAt(map.drive(row.getPg(), slot)) > row.getSettled();
        if (isLost && layout.shardLength(slot) > 0) {
          owed.add(slot);
        }
      }
    }
    return owed;
  }

  private static StripeLayout layout(BlobRow row) {
    return new StripeLayout(Profile.of(row.getProfile()), row.getLength());
  }

  /** Keeps the table as the row is from now on. */
  static void update(Step step, @Nullable BlobRow before, BlobRow after) {
    byte[] keyBefore = before == null ? null : key(before);
    byte[] key = key(after);
    if (keyBefore != null && !Arrays.equals(keyBefore, key)) {
      step.table().delete(keyBefore);
    }
    if (key != null) {
      step.table().put(key, value(after));
    }
  }

  /** Null for a blob that owes nothing, or is to be deleted. */
  private static byte @Nullable [] key(BlobRow row) {
    return row.getDebtSlotsCount() == 0 || row.getReferences() == 0
        ? null
        : Keys.owing(
            Profile.of(row.getProfile()).parityShards() - row.getDebtSlotsCount(),
            BlobId.of(row.getId()));
  }

  private static byte[] value(BlobRow row) {
    StripeLayout layout = layout(row);
    long bytes = row.getDebtSlotsList().stream().mapToLong(layout::shardLength).sum();
    return ByteBuffer.allocate(Long.BYTES).putLong(bytes).array();
  }

  /** What is owed, by how many more shards the blobs may lose. */
  static List<DebtLevel> levels(Table snapshot) {
    List<DebtLevel> levels = new ArrayList<>();
    DebtLevel.Builder level = DebtLevel.newBuilder();
    byte[] all = Keys.table('E');
    try (Table.Cursor cursor = snapshot.cursor(all, Keys.behind(all))) {
      for (; cursor.isValid(); cursor.next()) {
        int spare = Keys.spareOfOwing(cursor.key());
        if (level.getBlobs() > 0 && level.getSpare() != spare) {
          levels.add(level.build());
          level.clear();
        }
        long bytes = ByteBuffer.wrap(cursor.value()).getLong();
        level.setSpare(spare).setBlobs(level.getBlobs() + 1).setBytes(level.getBytes() + bytes);
      }
    }
    if (level.getBlobs() > 0) {
      levels.add(level.build());
    }
    return levels;
  }

  /** The blob of which a shard has this name. */
  static @Nullable BlobId blobNamed(Table table, BlobId name) {
    return Rows.get(table, Keys.shardName(name), BlobKey.parser()).map(BlobId::of).orElse(null);
  }
}
