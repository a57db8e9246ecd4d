package dev.ashlar.metadata.state.blob;

import dev.ashlar.metadata.state.apply.ApplyContext;
import dev.ashlar.metadata.state.apply.Catalog;
import dev.ashlar.metadata.table.Keys;
import dev.ashlar.metadata.table.Overlay;
import dev.ashlar.metadata.table.Table;
import dev.ashlar.protocol.layout.StripeLayout;
import dev.ashlar.protocol.message.BlobIdValue;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.DebtLevel;
import dev.ashlar.protocol.message.RelocatedShard;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.PlacementMap;
import dev.ashlar.protocol.model.Profile;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The debts of blobs, and the table of blobs with debts or relocated shards, ordered by spare. When
 * a drive begins a new incarnation, its debts are not written into the rows of all its blobs at
 * once: they follow from rows that were settled before that incarnation began.
 *
 * <p>The debts are also summed, one row per spare (how many more shards the blobs can lose). Every
 * command that changes the table of debts updates the sums, so that nothing has to be counted.
 */
public final class Debts {
  private Debts() {}

  /** The slots in debt, ascending, including those that follow from new incarnations of drives. */
  public static SortedSet<Integer> slots(ApplyContext context, BlobRow row) {
    TreeSet<Integer> debts = new TreeSet<>(row.getDebtSlotsList());
    Catalog catalog = context.catalog();
    if (catalog.wasReplacedBehind(row.getSettled())) {
      PlacementMap map = context.placement();
      StripeLayout layout = layout(row);
      for (int slot = 0; slot < layout.profile().shards(); slot++) {
        boolean isLost = catalog.replacedAt(map.location(row, slot)) > row.getSettled();
        if (isLost && layout.shardLength(slot) > 0) {
          debts.add(slot);
        }
      }
    }
    return debts;
  }

  public static StripeLayout layout(BlobRow row) {
    return new StripeLayout(Profile.of(row.getProfile()), row.getLength());
  }

  /** Updates the table of debts and its sums for a new or changed row. */
  static void update(ApplyContext context, @Nullable BlobRow before, BlobRow after) {
    RelocatedShards.update(context.table(), before, after);
    Entry entryBefore = before == null ? null : entry(before);
    Entry entry = entry(after);
    if (Objects.equals(entryBefore, entry)) {
      return;
    }
    if (entryBefore != null && (entry == null || entry.spare() != entryBefore.spare())) {
      context.table().delete(entryBefore.key());
    }
    if (entry != null) {
      context.table().put(entry.key(), entry.value());
    }
    count(context.table(), entryBefore, entry);
  }

  /**
   * An entry of the table of debts.
   *
   * @param spare how many more shards the blob can lose
   * @param bytes of its shards that are in debt or relocated
   */
  public record Entry(BlobId id, int spare, long bytes) {
    public static Entry of(byte[] key, byte[] value) {
      return new Entry(
          Keys.blobOfDebt(key), Keys.spareOfDebt(key), ByteBuffer.wrap(value).getLong());
    }

    byte[] key() {
      return Keys.debt(spare, id);
    }

    byte[] value() {
      return ByteBuffer.allocate(Long.BYTES).putLong(bytes).array();
    }
  }

  /** Null for garbage and for a blob with all its shards where they belong. */
  private static @Nullable Entry entry(BlobRow row) {
    List<RelocatedShard> moving = RelocatedShards.toMove(row);
    boolean isInDebt = row.getDebtSlotsCount() > 0 && row.getReferences() > 0;
    if (!isInDebt && moving.isEmpty()) {
      return null;
    }
    StripeLayout layout = layout(row);
    int lost = (int) moving.stream().filter(RelocatedShard::getOut).count();
    long debtBytes = row.getDebtSlotsList().stream().mapToLong(layout::shardLength).sum();
    long moved = moving.stream().mapToLong(place -> layout.shardLength(place.getSlot())).sum();
    return new Entry(
        BlobId.of(row.getId()),
        layout.profile().parityShards() - row.getDebtSlotsCount() - lost,
        debtBytes + moved);
  }

  /** The blob that has a shard with this name. */
  public static @Nullable BlobId blobNamed(Table table, BlobId name) {
    return table.row(Keys.shardName(name), BlobIdValue.parser()).map(BlobId::of).orElse(null);
  }

  // ---- Sums ----

  /** Updates the sums for an entry of the table of debts that changes, appears or disappears. */
  private static void count(Overlay table, @Nullable Entry before, @Nullable Entry after) {
    if (before != null && after != null && before.spare() == after.spare()) {
      add(table, after, 0, after.bytes() - before.bytes());
      return;
    }
    if (before != null) {
      add(table, before, -1, -before.bytes());
    }
    if (after != null) {
      add(table, after, 1, after.bytes());
    }
  }

  private static void add(Overlay table, Entry entry, int blobs, long bytes) {
    int spare = entry.spare();
    byte[] key = Keys.debtLevel(spare);
    DebtLevel present =
        table.row(key, DebtLevel.parser()).orElse(DebtLevel.newBuilder().setSpare(spare).build());
    DebtLevel.Builder changed =
        present.toBuilder()
            .setBlobs(present.getBlobs() + blobs)
            .setBytes(present.getBytes() + bytes);
    if (entry.id().profile() > 0) {
      addOfProfile(changed, entry.id().profile(), blobs, bytes);
    }
    if (changed.getBlobs() == 0) {
      table.delete(key);
    } else {
      table.put(key, changed.build().toByteArray());
    }
  }

  private static void addOfProfile(DebtLevel.Builder level, int number, int blobs, long bytes) {
    SortedMap<Integer, DebtLevel.OfProfile> parts = new TreeMap<>();
    level.getAddedList().forEach(part -> parts.put(part.getNumber(), part));
    DebtLevel.OfProfile present =
        parts.getOrDefault(number, DebtLevel.OfProfile.getDefaultInstance());
    DebtLevel.OfProfile changed =
        DebtLevel.OfProfile.newBuilder()
            .setNumber(number)
            .setBlobs(present.getBlobs() + blobs)
            .setBytes(present.getBytes() + bytes)
            .build();
    parts.put(number, changed);
    parts.values().removeIf(part -> part.getBlobs() == 0);
    level.clearAdded().addAllAdded(parts.values());
  }

  /** All existing levels, the least spare first. */
  public static List<DebtLevel> levels(Table snapshot) {
    return snapshot.rows('Y', DebtLevel.parser());
  }

  /** Counts the debts of tables written before there were levels. */
  public static void countAll(Overlay table) {
    Map<Integer, DebtLevel.Builder> levels = new TreeMap<>();
    table.forEach(
        Keys.table('E'),
        (key, value) -> {
          Entry entry = Entry.of(key, value);
          DebtLevel.Builder level =
              levels.computeIfAbsent(
                  entry.spare(), spare -> DebtLevel.newBuilder().setSpare(spare));
          level.setBlobs(level.getBlobs() + 1).setBytes(level.getBytes() + entry.bytes());
        });
    levels.forEach((spare, level) -> table.put(Keys.debtLevel(spare), level.build().toByteArray()));
  }
}
