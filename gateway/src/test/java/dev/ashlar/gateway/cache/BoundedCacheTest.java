package dev.ashlar.gateway.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import org.junit.jupiter.api.Test;

class BoundedCacheTest {
  private final BoundedCache<String, String> cache = new BoundedCache<>(3, 100);

  @Test
  void entriesAreBounded() {
    for (String key : new String[] {"a", "b", "c"}) {
      cache.put(key, key, 1);
    }
    assertEquals("a", cache.get("a"));
    cache.put("d", "d", 1);
    assertNull(cache.get("a"));
    assertEquals("d", cache.get("d"));
  }

  @Test
  void bytesAreBounded() {
    cache.put("a", "a", 60);
    cache.put("b", "b", 60);
    assertEquals("a", cache.get("a"));
    cache.put("c", "c", 1);
    assertNull(cache.get("a"));
    assertNull(cache.get("b"));
    assertEquals("c", cache.get("c"));
  }

  @Test
  void replacedAndRemovedValuesCountNoMore() {
    for (int i = 0; i < 100; i++) {
      cache.put("a", "a" + i, 60);
      cache.put("b", "b", 30);
      cache.remove("b");
      cache.remove("b");
    }
    assertEquals("a99", cache.get("a"));
    assertNull(cache.get("b"));
  }
}
