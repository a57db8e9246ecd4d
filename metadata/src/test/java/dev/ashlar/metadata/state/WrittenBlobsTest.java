package dev.ashlar.metadata.state;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;

import dev.ashlar.metadata.table.Keys;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.model.BlobId;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class WrittenBlobsTest {
  private static final byte[] KEY = key(1);
  private final WrittenBlobs blobs = new WrittenBlobs();

  private static byte[] key(long sequence) {
    return Keys.blob(new BlobId(7, sequence), 16);
  }

  private static BlobRow row(long revision) {
    return BlobRow.newBuilder().setLength(5).setRevision(revision).build();
  }

  private void write(byte[] key, BlobRow row) {
    blobs.put(key, row.toByteArray(), row);
  }

  @Test
  void whatWasWrittenIsNotParsedAgain() {
    BlobRow row = row(1);
    write(KEY, row);
    assertSame(row, blobs.parse(KEY, row.toByteArray()));
  }

  @Test
  void otherBytesMeanWhatTheySay() {
    write(KEY, row(2));
    assertEquals(row(1), blobs.parse(KEY, row(1).toByteArray()));
    assertEquals(row(3), blobs.parse(KEY, row(3).toByteArray()));
  }

  @Test
  void manyTakeEachOthersPlaces() {
    for (long i = 0; i < 10_000; i++) {
      write(key(i), row(i));
    }
    for (long i = 0; i < 10_000; i++) {
      assertEquals(row(i), blobs.parse(key(i), row(i).toByteArray()));
    }
  }

  @Test
  void largeRowsAreNotKept() {
    BlobRow large =
        row(1).toBuilder().addAllFoldedStripes(LongStream.range(0, 5000).boxed().toList()).build();
    write(KEY, large);
    BlobRow parsed = blobs.parse(KEY, large.toByteArray());
    assertNotSame(large, parsed);
    assertEquals(large, parsed);
  }
}
