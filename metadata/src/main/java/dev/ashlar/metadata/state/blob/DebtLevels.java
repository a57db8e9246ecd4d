package dev.ashlar.metadata.state.blob;

import dev.ashlar.metadata.table.Keys;
import dev.ashlar.metadata.table.Overlay;
import dev.ashlar.metadata.table.Rows;
import dev.ashlar.metadata.table.Table;
import dev.ashlar.protocol.message.DebtLevel;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Sums of all debts, one row per spare (how many more shards the blobs can lose). Every command
 * that changes the table of debts updates them, so that nothing has to be counted.
 */
public final class DebtLevels {
  private DebtLevels() {}

  /** Updates the sums for an entry of the table of debts that changes, appears or disappears. */
  static void change(Overlay table, Debts.@Nullable Entry before, Debts.@Nullable Entry after) {
    if (before != null && after != null && before.spare() == after.spare()) {
      add(table, after.spare(), 0, after.bytes() - before.bytes());
      return;
    }
    if (before != null) {
      add(table, before.spare(), -1, -before.bytes());
    }
    if (after != null) {
      add(table, after.spare(), 1, after.bytes());
    }
  }

  private static void add(Overlay table, int spare, int blobs, long bytes) {
    byte[] key = Keys.debtLevel(spare);
    DebtLevel present =
        Rows.get(table, key, DebtLevel.parser())
            .orElse(DebtLevel.newBuilder().setSpare(spare).build());
    DebtLevel changed =
        present.toBuilder()
            .setBlobs(present.getBlobs() + blobs)
            .setBytes(present.getBytes() + bytes)
            .build();
    if (changed.getBlobs() == 0) {
      table.delete(key);
    } else {
      table.put(key, changed.toByteArray());
    }
  }

  /** All existing levels, the least spare first. */
  public static List<DebtLevel> all(Table snapshot) {
    return Rows.all(snapshot, 'Y', DebtLevel.parser());
  }

  /** Counts the debts of tables written before there were levels. */
  public static void count(Overlay table) {
    Map<Integer, DebtLevel.Builder> levels = new TreeMap<>();
    byte[] all = Keys.table('E');
    try (Table.Cursor cursor = table.cursor(all, Keys.behind(all))) {
      for (; cursor.isValid(); cursor.next()) {
        Debts.Entry entry = Debts.Entry.of(cursor.key(), cursor.value());
        DebtLevel.Builder level =
            levels.computeIfAbsent(entry.spare(), spare -> DebtLevel.newBuilder().setSpare(spare));
        level.setBlobs(level.getBlobs() + 1).setBytes(level.getBytes() + entry.bytes());
      }
    }
    levels.forEach((spare, level) -> table.put(Keys.debtLevel(spare), level.build().toByteArray()));
  }
}
