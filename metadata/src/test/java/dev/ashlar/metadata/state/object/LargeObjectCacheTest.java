package dev.ashlar.metadata.state.object;

import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

import dev.ashlar.protocol.message.ObjectRecord;
import dev.ashlar.protocol.message.ObjectRow;
import dev.ashlar.protocol.message.SliceValue;
import java.util.Collections;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class LargeObjectCacheTest {
  private final LargeObjectCache objects = new LargeObjectCache();

  private static ObjectRecord object(long version, int slices) {
    return ObjectRecord.newBuilder()
        .setVersion(version)
        .addAllSlices(Collections.nCopies(slices, SliceValue.getDefaultInstance()))
        .build();
  }

  private @Nullable ObjectRecord get(long version) {
    return objects.get(ObjectRow.newBuilder().setVersion(version).build());
  }

  @Test
  void aMovedVersionIsNotTheOneBefore() {
    ObjectRecord before = object(1, 2);
    objects.put(before);
    ObjectRow moved = ObjectRow.newBuilder().setVersion(1).setMoved(7).build();
    assertNull(objects.get(moved));
    ObjectRecord after = object(1, 1).toBuilder().setMoved(7).build();
    objects.put(after);
    assertSame(after, objects.get(moved));
    assertSame(before, get(1));
  }

  @Test
  void leastRecentlyUsedObjectIsEvictedFirst() {
    ObjectRecord first = object(1, 20_000);
    objects.put(first);
    objects.put(object(2, 20_000));
    objects.put(object(3, 20_000));
    assertSame(first, get(1));
    objects.put(object(4, 20_000));
    assertSame(first, get(1));
    assertNull(get(2));
    ObjectRecord largest = object(5, 64_000);
    objects.put(largest);
    assertNull(get(1));
    objects.put(object(6, 64_001)); // never
    assertNull(get(6));
    assertSame(largest, get(5));
  }
}
