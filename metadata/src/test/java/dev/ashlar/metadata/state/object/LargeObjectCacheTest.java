package dev.ashlar.metadata.state.object;

import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

import dev.ashlar.protocol.message.ObjectRecord;
import dev.ashlar.protocol.message.SliceValue;
import java.util.Collections;
import org.junit.jupiter.api.Test;

class LargeObjectCacheTest {
  private final LargeObjectCache objects = new LargeObjectCache();

  private static ObjectRecord object(long version, int slices) {
    return ObjectRecord.newBuilder()
        .setVersion(version)
        .addAllSlices(Collections.nCopies(slices, SliceValue.getDefaultInstance()))
        .build();
  }

  @Test
  void leastRecentlyUsedObjectIsEvictedFirst() {
    ObjectRecord first = object(1, 20_000);
    objects.put(first);
    objects.put(object(2, 20_000));
    objects.put(object(3, 20_000));
    assertSame(first, objects.get(1));
    objects.put(object(4, 20_000));
    assertSame(first, objects.get(1));
    assertNull(objects.get(2));
    ObjectRecord largest = object(5, 64_000);
    objects.put(largest);
    assertNull(objects.get(1));
    objects.put(object(6, 64_001)); // never
    assertNull(objects.get(6));
    assertSame(largest, objects.get(5));
  }
}
