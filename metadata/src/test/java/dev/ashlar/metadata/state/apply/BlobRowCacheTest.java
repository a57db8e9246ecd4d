package dev.ashlar.metadata.state.apply;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;

import dev.ashlar.metadata.memory.MemoryTable;
import dev.ashlar.metadata.table.Keys;
import dev.ashlar.metadata.table.Overlay;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.model.BlobId;
import java.util.Optional;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class BlobRowCacheTest {
  private static final byte[] KEY = key(1);
  private final BlobRowCache blobs = new BlobRowCache();
  private final Overlay table = new Overlay(new MemoryTable());

  private static byte[] key(long sequence) {
    return Keys.blob(3, new BlobId(7, sequence));
  }

  private static BlobRow row(long revision) {
    return BlobRow.newBuilder().setLength(5).setRevision(revision).build();
  }

  private void write(byte[] key, BlobRow row) {
    byte[] bytes = row.toByteArray();
    table.put(key, bytes);
    blobs.put(key, bytes, row);
  }

  private BlobRow read(byte[] key) {
    return blobs.get(table, key).orElseThrow();
  }

  @Test
  void writtenRowIsNotParsedAgain() {
    BlobRow row = row(1);
    write(KEY, row);
    assertSame(row, read(KEY));
  }

  @Test
  void theTableCounts() {
    write(KEY, row(2));
    table.put(KEY, row(3).toByteArray());
    assertEquals(row(3), read(KEY));
    table.delete(KEY);
    assertEquals(Optional.empty(), blobs.get(table, KEY));
  }

  @Test
  void manyTakeEachOthersPlaces() {
    for (long i = 0; i < 10_000; i++) {
      write(key(i), row(i));
    }
    for (long i = 0; i < 10_000; i++) {
      assertEquals(row(i), read(key(i)));
    }
  }

  @Test
  void largeRowsAreNotKept() {
    BlobRow large =
        row(1).toBuilder().addAllFoldedStripes(LongStream.range(0, 5000).boxed().toList()).build();
    write(KEY, large);
    assertNotSame(large, read(KEY));
    assertEquals(large, read(KEY));
  }
}
