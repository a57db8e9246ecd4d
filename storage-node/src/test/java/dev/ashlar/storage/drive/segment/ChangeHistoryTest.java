package dev.ashlar.storage.drive.segment;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.protocol.model.BlobId;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ChangeHistoryTest {
  private static final int HASH_1_1 = 0x2189b06a;
  private static final int HASH_7_5 = 0x693b2323;

  private static void add(ChangeHistory history, int... blobs) {
    ChangeHistory.Changes changes = new ChangeHistory.Changes();
    for (int blob : blobs) {
      changes.mark(new MarkRecord.Tombstone(new BlobId(1, blob), 1, 1));
    }
    history.add(changes);
  }

  private static int hash(int blob) {
    return ChangeHistory.hash(new BlobId(1, blob));
  }

  @Test
  void theNewestBatchesAreNamed() {
    ChangeHistory history = new ChangeHistory();
    add(history, 1, 2);
    add(history);
    add(history, 3, 3);
    ChangeHistory.Stored stored = history.fitting(1000);
    assertEquals(3, stored.batches());
    assertEquals(Set.of(hash(3)), stored.changedBy(1));
    assertEquals(Set.of(hash(3)), stored.changedBy(2));
    assertEquals(Set.of(hash(1), hash(2), hash(3)), stored.changedBy(3));
  }

  @Test
  void batchesThatDoNotFitAreLeftOut() {
    ChangeHistory history = new ChangeHistory();
    add(history, 1, 2, 3);
    add(history, 4);
    assertEquals(1, history.fitting(history.bytesMin()).batches());
    assertEquals(1, history.fitting(history.bytesMin() + 15).batches());
    assertEquals(2, history.fitting(history.bytesMin() + 16).batches());
    assertEquals(0, history.fitting(history.bytesMin() - 1).batches());
  }

  @Test
  void restoredHistoryContinues() {
    ChangeHistory history = new ChangeHistory();
    add(history, 1);
    add(history, 2);
    ChangeHistory restored = new ChangeHistory();
    restored.restore(history.fitting(1000));
    add(restored, 3);
    assertEquals(Set.of(hash(3), hash(2), hash(1)), restored.fitting(1000).changedBy(3));
  }

  @Test
  void batchWithTooManyChangesEndsTheHistory() {
    ChangeHistory history = new ChangeHistory();
    add(history, 1);
    int[] many = IntStream.range(0, 1000).toArray();
    add(history, many);
    assertEquals(0, history.fitting(10_000).batches());
    add(history, 2);
    assertEquals(1, history.fitting(10_000).batches());
  }

  @Test
  void historyIsBounded() {
    ChangeHistory history = new ChangeHistory();
    for (int blob = 0; blob < 10_000; blob++) {
      add(history, blob);
    }
    ChangeHistory.Stored stored = history.fitting(1 << 20);
    assertTrue(stored.storedBytes() <= 1032, stored.storedBytes() + " bytes");
    assertEquals(128, stored.batches());
  }

  /** Stored hashes have to mean the same to later builds. */
  @Test
  void hashIsStable() {
    assertEquals(HASH_1_1, ChangeHistory.hash(new BlobId(1, 1)));
    assertEquals(HASH_7_5, ChangeHistory.hash(new BlobId(7, 5)));
  }
}
