package dev.ashlar.bench.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.ashlar.bench.Printed;
import dev.ashlar.protocol.model.Profile;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CapacityCommandTest {
  private static final long TERABYTE = 1_000_000_000_000L;

  @TempDir private Path folder = Path.of("");
  @TempDir private Path results = Path.of("");

  @Test
  void whatIsOnDrivesIsWhatTheArithmeticSaysAndHeaders() throws IOException {
    Path sizes = folder.resolve("sizes.csv");
    Files.writeString(sizes, "# Two sizes.\n5000,300\n200KiB,10\n0,77\n");
    Printed printed =
        Printed.by(
            "capacity",
            "--profile=2+1",
            "--drives=3",
            "--drive-size=1TB",
            "--price=50",
            "--data-set=" + sizes,
            "--sample=4",
            "--folder=" + folder,
            "--results=" + results,
            "--json");
    assertEquals(0, printed.status(), printed.err());
    JsonNode result = new ObjectMapper().readTree(printed.out());
    assertEquals(3 * TERABYTE, result.get("rawBytes").asLong());
    JsonNode data = result.get("dataSet");
    assertEquals("Two sizes.", data.get("description").asText());
    assertEquals(310, data.get("objects").asDouble(), 1e-9);
    assertEquals(300 * 5000 + 10 * 204800, data.get("bytes").asDouble(), 1e-6);
    // 200 KiB are six stripes of 32 KiB and 8 KiB; padded, 25 of 8 KiB.
    checkSpace(data.get("space").get(0), 300 * 10_000 + 10.0 * 304 * 1024);
    checkSpace(data.get("space").get(1), 300 * 12_288 + 10.0 * 300 * 1024);
    assertEquals(List.of("sizes.csv"), names(folder));
  }

  /** Headers and checksums: not nothing, and not much. */
  private static void checkSpace(JsonNode space, double shards) {
    assertEquals(shards, space.get("arithmeticBytes").asDouble(), 1e-6);
    double live = space.get("liveBytes").asDouble();
    assertTrue(live > 1.001 * shards && live < 1.02 * shards, () -> live + " of " + shards);
    assertTrue(space.get("writtenBytes").asDouble() > live);
    double sum =
        300 * 5000 * space.get("classes").get(0).get("live").asDouble()
            + 10 * 204800 * space.get("classes").get(1).get("live").asDouble();
    assertEquals(live, sum, 1e-6 * live);
  }

  private static List<String> names(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.map(file -> file.getFileName().toString()).toList();
    }
  }

  @Test
  void drivesAndNodesThatMayFail() throws IOException {
    Printed printed =
        Printed.by(
            "capacity",
            "--drives=12",
            "--nodes=4",
            "--drive-size=7.68TB",
            "--price=900",
            "--profile=1+2,4+2,8+3,12+3",
            "--data-set=none",
            "--results=" + results,
            "--json");
    assertEquals(0, printed.status(), printed.err());
    assertTrue(printed.err().contains("12+3 is left out: it needs 15 drives"));
    JsonNode result = new ObjectMapper().readTree(printed.out());
    Map<String, List<Integer>> lost =
        Map.of("1+2", List.of(2, 1, 2, 1), "4+2", List.of(2, 1, 1, 0), "8+3", List.of(3, 2, 1, 0));
    assertEquals(3, result.get("profiles").size());
    for (JsonNode profile : result.get("profiles")) {
      assertEquals(
          lost.get(profile.get("profile").asText()),
          List.of(
              profile.get("drivesLostReading").asInt(),
              profile.get("drivesLostWriting").asInt(),
              profile.get("nodesLostReading").asInt(),
              profile.get("nodesLostWriting").asInt()));
      long usable = profile.get("usableBytes").asLong();
      double raw = usable * profile.get("overhead").asDouble();
      assertEquals(result.get("rawBytes").asDouble(), raw, 0.001 * raw);
      assertEquals(
          12 * 900 / (usable / 1e12), profile.get("pricePerUsableTerabyte").asDouble(), 1e-6);
      assertTrue(profile.get("firstFullBytes").asLong() <= usable);
    }
  }

  @Test
  void drivesThatServeEveryGroupFillEvenly() {
    Profile profile = Profile.parse("4+2", 0);
    assertEquals(1, new DriveSet(6, TERABYTE, 6, null).evenness(profile), 1e-12);
    double larger = new DriveSet(13, TERABYTE, 13, null).evenness(profile);
    assertTrue(larger > 0.6 && larger < 1, () -> "evenness " + larger);
  }

  @Test
  void tablesSayWhatTheyAreOf() {
    Printed printed =
        Printed.by("capacity", "--data-set=none", "--price=900", "--results=" + results);
    assertEquals(0, printed.status(), printed.err());
    assertTrue(printed.out().contains("12 drives of 7.68 TB: 92.16 TB raw for 10,800.00."));
    assertTrue(printed.out().contains("| 4+2 | 1.50 | 61.44 | 67 % |"), printed.out());
  }

  @ParameterizedTest
  @ValueSource(strings = {"files", "photos", "small", "backup"})
  void distributionsAreDescribedAndSampledInOrder(String name) throws IOException {
    SizeDistribution sizes = SizeDistribution.of(name);
    assertTrue(sizes.description().length() > 40);
    double count = 0;
    double bytes = 0;
    long last = 0;
    for (SizeDistribution.SizeClass each : sizes.classes()) {
      count += each.count();
      bytes += each.bytes();
      List<Long> sample = each.sample(7);
      assertEquals(7, sample.size());
      for (long size : sample) {
        assertTrue(size >= last && size <= each.toBytes());
        last = size;
      }
    }
    assertEquals(sizes.count(), count, 1e-6 * count);
    assertEquals(sizes.bytes(), bytes, 1e-6 * bytes);
  }

  @Test
  void linesMayBeSizesOrRangesOrBoth() throws IOException {
    SizeDistribution sizes = parse("# a\n#b\n\n10\n10 , 2 # two more\n1KiB-4KiB,64\n0-0,5\n");
    assertEquals("a b", sizes.description());
    assertEquals(67, sizes.count(), 1e-9);
    assertEquals(List.of(128L, 2048L, 4096L), classEnds(sizes));
  }

  private static List<Long> classEnds(SizeDistribution sizes) {
    return sizes.classes().stream().map(SizeDistribution.SizeClass::toBytes).toList();
  }

  private static SizeDistribution parse(String lines) throws IOException {
    return SizeDistribution.parse("test", new BufferedReader(new StringReader(lines)));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "0,5", "4KiB-1KiB,2", "a,b", "1,2,3", "1,-1", "1,NaN", "1-2-3,1"})
  void otherLinesAreRefusedWithTheirNumber(String lines) {
    IOException refusal = assertThrows(IOException.class, () -> parse(lines));
    assertTrue(
        String.valueOf(refusal.getMessage()).matches("test(, line 1: .*| names no object .*)"));
  }

  @Test
  void wrongOptionsAreRefused() {
    assertEquals(2, Printed.by("capacity", "--drives=0").status());
    assertEquals(2, Printed.by("capacity", "--nodes=13").status());
    assertEquals(2, Printed.by("capacity", "--drive-size=1MiB").status());
    assertEquals(2, Printed.by("capacity", "--price=0").status());
    assertEquals(2, Printed.by("capacity", "--profile=12+3").status());
    Printed unknown = Printed.by("capacity", "--data-set=unknown");
    assertEquals(2, unknown.status());
    assertTrue(unknown.err().contains("'unknown' is no file, and none of [files, photos"));
  }
}
