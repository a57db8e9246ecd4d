package dev.ashlar.metadata.state.object;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.metadata.memory.MemoryMetadata;
import dev.ashlar.metadata.memory.TestBlobs;
import dev.ashlar.protocol.client.ListPage;
import dev.ashlar.protocol.client.ListQuery;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.PutObject;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.TreeSet;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.From;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;

/** Listings against a sorted set of keys that is filtered in the simplest way. */
class ListingPropertyTest {
  private static final Comparator<String> UTF8 =
      (a, b) ->
          Arrays.compareUnsigned(
              a.getBytes(StandardCharsets.UTF_8), b.getBytes(StandardCharsets.UTF_8));

  @Provide
  Arbitrary<String> keys() {
    return Arbitraries.of("a", "b", "/", "//", "\u0000", "\u0001", "é", "\uD83D\uDE00", "\uFFFD")
        .list()
        .ofMinSize(1)
        .ofMaxSize(5)
        .map(parts -> String.join("", parts));
  }

  @Provide
  Arbitrary<String> prefixes() {
    return Arbitraries.of("", "a", "a/", "/", "é", "\u0000", "b//");
  }

  @Provide
  Arbitrary<String> delimiters() {
    return Arbitraries.of("", "/", "//", "a", "é");
  }

  @Property(tries = 300)
  void pagesTogetherAreTheWholeListing(
      @ForAll List<@From("keys") String> keys,
      @ForAll("prefixes") String prefix,
      @ForAll("delimiters") String delimiter,
      @ForAll @IntRange(min = 1, max = 4) int max)
      throws Exception {
    MemoryMetadata metadata = new MemoryMetadata(Clock.systemUTC());
    metadata.submit(TestBlobs.createBucket("b"));
    TreeSet<String> sorted = new TreeSet<>(UTF8);
    for (String key : keys) {
      sorted.add(key);
      PutObject.Builder empty = PutObject.newBuilder().setBucket("b").setKey(key);
      metadata.submit(Command.newBuilder().setPutObject(empty));
    }
    List<String> listed = new ArrayList<>();
    String after = "";
    while (true) {
      ListPage page = metadata.list(new ListQuery("b", prefix, delimiter, after, max));
      page.entries().forEach(entry -> listed.add(entry.name()));
      if (!page.truncated()) {
        break;
      }
      assertEquals(max, page.entries().size());
      after = page.entries().getLast().name();
    }
    assertEquals(expected(sorted, prefix, delimiter), listed);
  }

  private static List<String> expected(Iterable<String> keys, String prefix, String delimiter) {
    List<String> names = new ArrayList<>();
    for (String key : keys) {
      if (key.startsWith(prefix)) {
        int at = delimiter.isEmpty() ? -1 : key.indexOf(delimiter, prefix.length());
        String name = at < 0 ? key : key.substring(0, at + delimiter.length());
        if (names.isEmpty() || !names.getLast().equals(name)) {
          names.add(name);
        }
      }
    }
    return names;
  }
}
