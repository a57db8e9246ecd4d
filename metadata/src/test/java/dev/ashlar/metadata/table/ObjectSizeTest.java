package dev.ashlar.metadata.table;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.ashlar.protocol.message.ObjectRow;
import dev.ashlar.protocol.message.ObjectSummary;
import dev.ashlar.protocol.message.SliceValue;
import java.util.Arrays;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.AlphaChars;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;

/** The size of a version, read from its thin row without parsing the rest. */
class ObjectSizeTest {
  @Property
  void isThatOfTheWholeRow(
      @ForAll @LongRange(min = 0) long size,
      @ForAll @AlphaChars String etag,
      @ForAll long version,
      @ForAll boolean hasSlice) {
    ObjectRow.Builder row =
        ObjectRow.newBuilder()
            .setSummary(ObjectSummary.newBuilder().setSize(size).setEtag(etag))
            .setVersion(version);
    if (hasSlice) {
      row.setSlice(SliceValue.newBuilder().setLength(size));
    }
    assertEquals(size, ObjectTable.size(row.build().toByteArray()));
  }

  @Test
  void isZeroOfADeleteMarker() {
    ObjectRow marker = ObjectRow.newBuilder().setVersion(7).setDeleteMarker(true).build();
    assertEquals(0, ObjectTable.size(marker.toByteArray()));
  }

  @Test
  void isZeroOfAnEmptyRow() {
    assertEquals(0, ObjectTable.size(new byte[0]));
  }

  @Test
  void aRowThatIsCutOffIsDamaged() {
    byte[] row =
        ObjectRow.newBuilder()
            .setSummary(ObjectSummary.newBuilder().setSize(1L << 40))
            .build()
            .toByteArray();
    assertThrows(
        TableFailureException.class, () -> ObjectTable.size(Arrays.copyOf(row, row.length - 1)));
  }
}
