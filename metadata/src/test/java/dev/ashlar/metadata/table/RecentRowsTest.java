package dev.ashlar.metadata.table;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

/** The rows that were written last: what is found is always what was written last. */
class RecentRowsTest {
  private final RecentRows rows = new RecentRows();

  /**
   * @param keys of the rows that are written in turn, each third one by a deletion; many share
   *     their places
   */
  @Property
  void findsNothingButWhatWasWrittenLast(
      @ForAll @Size(max = 500) List<@IntRange(max = 20_000) Integer> keys) {
    RecentRows recent = new RecentRows();
    Map<Integer, byte[]> written = new HashMap<>();
    for (int i = 0; i < keys.size(); i++) {
      int key = keys.get(i);
      byte[] value = i % 3 == 2 ? null : bytes(i);
      recent.add(bytes(key), value);
      written.put(key, value);
      for (int one : keys) {
        RecentRows.Row row = recent.find(bytes(one));
        if (row != null) {
          assertArrayEquals(written.get(one), row.value());
        }
      }
    }
  }

  @Test
  void aDeletedRowIsKnownToBeDeleted() {
    rows.add(bytes(1), bytes(7));
    rows.add(bytes(1), null);
    RecentRows.Row row = rows.find(bytes(1));
    assertNotNull(row);
    assertNull(row.value());
  }

  @Test
  void aLargeRowIsNotKeptAndTakesTheOneBeforeAway() {
    rows.add(bytes(1), bytes(7));
    rows.add(bytes(1), new byte[5000]);
    assertNull(rows.find(bytes(1)));
  }

  private static byte[] bytes(int number) {
    return ByteBuffer.allocate(Integer.BYTES).putInt(number).array();
  }
}
