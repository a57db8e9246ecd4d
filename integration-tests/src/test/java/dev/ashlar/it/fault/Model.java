package dev.ashlar.it.fault;

import dev.ashlar.it.harness.Content;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/** What one bucket holds, as simply as it can be said. */
final class Model {
  /** An object as a client sees it. */
  record Stored(byte[] bytes, String eTag, Map<String, String> metadata) {
    static Stored of(byte[] bytes, Map<String, String> metadata) {
      return new Stored(bytes, quoted(Content.digest("MD5", bytes)), metadata);
    }

    Stored with(Map<String, String> other) {
      return new Stored(bytes, eTag, other);
    }

    private static String quoted(byte[] md5) {
      return "\"" + HexFormat.of().formatHex(md5) + "\"";
    }
  }

  /** A page of a listing: keys and common prefixes, merged in order. */
  record Page(List<String> keys, List<String> prefixes) {}

  final TreeMap<String, Stored> objects = new TreeMap<>();

  /** What a listing answers that starts behind a key or prefix and has room for so many. */
  Page list(String prefix, String delimiter, String after, int max) {
    List<String> keys = new ArrayList<>();
    TreeSet<String> prefixes = new TreeSet<>();
    for (String key : objects.tailMap(prefix, true).keySet()) {
      if (!key.startsWith(prefix)) {
        break;
      }
      int end = delimiter.isEmpty() ? -1 : key.indexOf(delimiter, prefix.length());
      String entry = end < 0 ? key : key.substring(0, end + delimiter.length());
      if (entry.compareTo(after) <= 0 || prefixes.contains(entry)) {
        continue;
      }
      if (keys.size() + prefixes.size() == max) {
        break;
      }
      if (end < 0) {
        keys.add(key);
      } else {
        prefixes.add(entry);
      }
    }
    return new Page(keys, List.copyOf(prefixes));
  }
}
