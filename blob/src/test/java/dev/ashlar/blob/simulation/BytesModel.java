package dev.ashlar.blob.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** What a bucket holds, as plain arrays: changed at the moment at which metadata commits. */
final class BytesModel {
  private final Map<String, byte[]> objects = new TreeMap<>();
  private final Map<String, Long> touches = new TreeMap<>();

  /**
   * A key at one moment.
   *
   * @param bytes null where there is no object
   * @param touches how often it was written, copied from, and moved
   */
  record State(byte @Nullable [] bytes, long touches) {}

  State state(String key) {
    return new State(objects.get(key), touches.getOrDefault(key, 0L));
  }

  Set<String> keys() {
    return objects.keySet();
  }

  boolean isTouchedSince(String key, State before) {
    return touches.getOrDefault(key, 0L) != before.touches();
  }

  void put(String key, byte[] bytes, boolean ifAbsent) {
    assertTrue(!ifAbsent || !objects.containsKey(key), "put in the place of another: " + key);
    objects.put(key, bytes);
    touch(key);
  }

  void change(String key, int offset, byte[] bytes, boolean isAppend) {
    byte[] before = present(key);
    if (isAppend) {
      assertEquals(before.length, offset, "appended in the midst of " + key);
    }
    assertTrue(offset <= before.length, "changed behind the end of " + key);
    byte[] after = Arrays.copyOf(before, Math.max(before.length, offset + bytes.length));
    System.arraycopy(bytes, 0, after, offset, bytes.length);
    objects.put(key, after);
    touch(key);
  }

  void copy(String source, String target) {
    byte[] bytes = present(source);
    touch(source);
    put(target, bytes, false);
  }

  /** Some of it belongs to something else, too. */
  void share(String source) {
    present(source);
    touch(source);
  }

  /** The same bytes are on other drives now. */
  void move(String key) {
    present(key);
    touch(key);
  }

  void delete(String key) {
    objects.remove(key);
    touch(key);
  }

  private byte[] present(String key) {
    byte[] bytes = objects.get(key);
    if (bytes == null) {
      throw new AssertionError("changed or copied, but not there: " + key);
    }
    return bytes;
  }

  private void touch(String key) {
    touches.merge(key, 1L, Long::sum);
  }
}
