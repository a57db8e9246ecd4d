package dev.ashlar.bench.load;

import dev.ashlar.bench.process.BenchException;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** Which kinds of operations are made, in percent. */
public record Mix(Map<Kind, Integer> percent) {
  private static final int WHOLE = 100;

  public Mix {
    percent = Map.copyOf(percent);
    boolean isBad =
        percent.values().stream().anyMatch(share -> share < 1)
            || percent.values().stream().mapToInt(share -> share).sum() != WHOLE;
    if (isBad) {
      throw new BenchException("The shares of a mix have to come to 100, as read=70,patch=30.");
    }
  }

  /** As {@code read=70,patch=30}, or {@code read}. */
  public static Mix parse(String text) {
    Map<Kind, Integer> percent = new EnumMap<>(Kind.class);
    for (String part : text.split(",", -1)) {
      int equals = part.indexOf('=');
      String name = equals < 0 ? part : part.substring(0, equals);
      try {
        Kind kind = Kind.valueOf(name.strip().toUpperCase(Locale.ROOT));
        int share = equals < 0 ? WHOLE : Integer.parseInt(part.substring(equals + 1).strip());
        percent.merge(kind, share, Integer::sum);
      } catch (IllegalArgumentException e) {
        throw new BenchException(
            "A mix is made of read, write, replace, patch, append, list, stat and delete, as read=70,patch=30, not "
                + text);
      }
    }
    return new Mix(percent);
  }

  /** The kind at this point of the hundred. */
  Kind at(int point) {
    int end = 0;
    for (Map.Entry<Kind, Integer> share : new TreeMap<>(percent).entrySet()) {
      end += share.getValue();
      if (point < end) {
        return share.getKey();
      }
    }
    throw new IllegalArgumentException("beyond the hundred: " + point);
  }

  /** Whether anything but whole objects is read or written. */
  boolean usesBlocks() {
    return percent.containsKey(Kind.READ)
        || percent.containsKey(Kind.PATCH)
        || percent.containsKey(Kind.APPEND);
  }

  boolean needsObjects() {
    return percent.containsKey(Kind.READ)
        || percent.containsKey(Kind.PATCH)
        || percent.containsKey(Kind.REPLACE)
        || percent.containsKey(Kind.LIST)
        || percent.containsKey(Kind.STAT);
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    new TreeMap<>(percent)
        .forEach(
            (kind, share) ->
                text.append(text.isEmpty() ? "" : ",")
                    .append(kind.title())
                    .append('=')
                    .append(share));
    return text.toString();
  }
}
