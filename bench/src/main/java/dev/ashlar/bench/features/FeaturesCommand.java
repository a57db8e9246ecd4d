package dev.ashlar.bench.features;

import dev.ashlar.bench.Machine;
import dev.ashlar.bench.Plan;
import dev.ashlar.bench.TimeLeft;
import dev.ashlar.bench.engine.ScratchFolder;
import dev.ashlar.bench.features.Comparison.Limit;
import dev.ashlar.bench.features.Comparison.Side;
import dev.ashlar.bench.load.Kind;
import dev.ashlar.bench.load.Load;
import dev.ashlar.bench.load.LoadResult;
import dev.ashlar.bench.load.LoadRun;
import dev.ashlar.bench.load.Mix;
import dev.ashlar.bench.load.Operation;
import dev.ashlar.bench.load.ServerOptions;
import dev.ashlar.bench.load.Work;
import dev.ashlar.bench.options.Options;
import dev.ashlar.bench.options.OutputOptions;
import dev.ashlar.bench.process.BenchException;
import dev.ashlar.bench.result.ResultFolder;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Both sides of each comparison in turn, on one server. */
@Command(
    name = "features",
    description = {
      "Measures what versions, a policy of full size, many keys and encryption cost the server.",
      "Without options, a quick look with 20 versions a key and 50,000 keys. --full: 1,000 versions"
          + " a key and 1,000,000 keys, 35 minutes; quote only that."
    },
    mixinStandardHelpOptions = true)
public final class FeaturesCommand implements Callable<Integer>, Plan.Planned {
  private static final String PROFILE = "4+2";
  private static final int COMPARISONS = 13;
  private static final int CLIENTS = 8;
  private static final int FEW_KEYS = 10_000;
  private static final int MEBIBYTE = 1 << 20;
  private static final int MEDIUM_OBJECTS = 64;
  private static final int LARGE_OBJECTS = 16;
  private static final int LARGE_BYTES = 10 * MEBIBYTE;
  private static final Duration SETTLE = Duration.ofSeconds(2);

  /** As it was seen on a machine of two processors. */
  private static final double PUTS_PER_SECOND = 5000;

  private static final double LARGE_PUTS_SECONDS = 3;

  private static final Limit LISTING = new Limit.Ratio(1.5);

  @Mixin private Options.Form form = new Options.Form();
  @Mixin private Options.OwnServer own = new Options.OwnServer();
  @Mixin private Options.Passes passes = new Options.Passes();
  @Mixin private Options.Seed seed = new Options.Seed();
  @Mixin private OutputOptions output = new OutputOptions();

  /** What {@code --json} prints. */
  record Result(String machine, List<FeatureCost> features) {}

  @Override
  public Plan plan() {
    double sides = 2.0 * COMPARISONS * passes.passes();
    double objects =
        FEW_KEYS + 2.0 * Buckets.PAGE_KEYS + manyKeys() + (double) versions() * Buckets.PAGE_KEYS;
    return new Plan()
        .servers(1)
        .add(1, objects / PUTS_PER_SECOND + LARGE_PUTS_SECONDS)
        .add(sides, form.warmUpSeconds(0.2, 5) + form.seconds(0.8, 10) + 0.2);
  }

  private int versions() {
    return form.isFull() ? 1000 : 20;
  }

  private long manyKeys() {
    return form.isFull() ? 1_000_000 : 50_000;
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    ResultFolder kept = output.newFolder("features");
    try (ScratchFolder scratch = own.newScratch();
        ServerOptions.Loaded server =
            ServerOptions.own(
                own.launcher(), PROFILE, scratch.child("server"), "features", Map.of());
        Buckets buckets = new Buckets(server, new LoadRun.Client(0, false, seed.seed()))) {
      List<FeatureCost> costs = measure(comparisons(buckets), kept);
      Result result = new Result(Machine.describe(scratch.child("")), costs);
      kept.write("report.json", result);
      output.print(result, out -> FeatureCost.print(costs, out));
    }
    return 0;
  }

  private List<Comparison> comparisons(Buckets buckets) throws IOException, InterruptedException {
    List<Comparison> all = new ArrayList<>(encryption(buckets));
    all.addAll(ofManyKeys(buckets));
    return all;
  }

  private static List<Comparison> encryption(Buckets buckets)
      throws IOException, InterruptedException {
    int smallBytes = (int) Buckets.OBJECT_BYTES;
    LoadRun small = buckets.objects("small", Buckets.PAGE_KEYS, smallBytes);
    LoadRun smallSealed = buckets.encrypted("small-encrypted", Buckets.PAGE_KEYS, smallBytes);
    LoadRun medium = buckets.objects("medium", MEDIUM_OBJECTS, MEBIBYTE);
    LoadRun mediumSealed = buckets.encrypted("medium-encrypted", MEDIUM_OBJECTS, MEBIBYTE);
    LoadRun large = buckets.objects("large", LARGE_OBJECTS, LARGE_BYTES);
    LoadRun largeSealed = buckets.encrypted("large-encrypted", LARGE_OBJECTS, LARGE_BYTES);
    Work smallPuts = whole(Kind.REPLACE, Buckets.PAGE_KEYS, smallBytes);
    Work smallGets = whole(Kind.READ, Buckets.PAGE_KEYS, smallBytes);
    Work mediumPuts = whole(Kind.REPLACE, MEDIUM_OBJECTS, MEBIBYTE);
    Work mediumGets = whole(Kind.READ, MEDIUM_OBJECTS, MEBIBYTE);
    Work ranges =
        connection -> {
          int offset = ThreadLocalRandom.current().nextInt(LARGE_BYTES - smallBytes);
          return onKey(LARGE_OBJECTS, Kind.READ, offset, smallBytes);
        };
    return List.of(
        encryption("PUT 4 KiB", small, smallSealed, smallPuts, 1.5),
        encryption("GET 4 KiB", small, smallSealed, smallGets, 1.5),
        encryption("PUT 1 MiB", medium, mediumSealed, mediumPuts, 1.3),
        encryption("GET 1 MiB", medium, mediumSealed, mediumGets, 1.3),
        encryption("GET 4 KiB of 10 MiB", large, largeSealed, ranges, 2));
  }

  private static Comparison encryption(
      String title, LoadRun plain, LoadRun encrypted, Work work, double times) {
    return new Comparison(
        title + ", encrypted", new Side(plain, work), new Side(encrypted, work), ratio(times));
  }

  private static Work whole(Kind kind, int keys, long bytes) {
    return connection -> onKey(keys, kind, Operation.WHOLE, bytes);
  }

  private List<Comparison> ofManyKeys(Buckets buckets) throws IOException, InterruptedException {
    LoadRun plain = buckets.versions("plain", 1);
    LoadRun versioned = buckets.versions("versioned", 2);
    LoadRun deep = buckets.versions("deep", versions());
    LoadRun policy = buckets.policy("policy");
    LoadRun few = buckets.folders("few", FEW_KEYS);
    LoadRun many = buckets.folders("many", manyKeys());
    Work puts = whole(Kind.REPLACE, Buckets.PAGE_KEYS, Buckets.OBJECT_BYTES);
    Work gets = connection -> onKey(Buckets.PAGE_KEYS, Kind.READ, 0, 1);
    Work list = lists("list-type=2");
    Work folders = lists("delimiter=%2F&list-type=2");
    Work firstVersions = lists("versions=");
    Work lateVersions = lists("key-marker=" + Buckets.key(Buckets.PAGE_KEYS / 2) + "&versions=");
    String deepTitle = versions() + " versions";
    return List.of(
        new Comparison(
            "PUT 4 KiB, versioned", new Side(plain, puts), new Side(versioned, puts), ratio(1.1)),
        new Comparison(
            "ListObjectVersions, in the middle",
            new Side(deep, firstVersions),
            new Side(deep, lateVersions),
            ratio(1.1)),
        new Comparison(
            "ListObjectVersions, %s each, against one".formatted(deepTitle),
            new Side(plain, firstVersions),
            new Side(deep, firstVersions),
            LISTING),
        new Comparison(
            "GET, policy of full size",
            new Side(plain, gets),
            new Side(policy, gets),
            new Limit.Added(100)),
        new Comparison(
            "PUT 4 KiB, policy of full size",
            new Side(plain, puts),
            new Side(policy, puts),
            new Limit.Added(100)),
        new Comparison(
            "LIST, %,d keys against %,d".formatted(manyKeys(), FEW_KEYS),
            new Side(few, pages(FEW_KEYS)),
            new Side(many, pages(manyKeys())),
            LISTING),
        new Comparison(
            "LIST of folders, %,d keys against %,d".formatted(manyKeys(), FEW_KEYS),
            new Side(few, folders),
            new Side(many, folders),
            LISTING),
        // The last: until metadata is compacted, a listing passes the overwritten rows of its keys.
        new Comparison(
            "LIST 1,000 keys of %s each".formatted(deepTitle),
            new Side(plain, list),
            new Side(deep, list),
            ratio(1.1)));
  }

  private static Limit ratio(double times) {
    return new Limit.Ratio(times);
  }

  private static Operation onKey(int keys, Kind kind, long offset, long bytes) {
    String key = Buckets.key(ThreadLocalRandom.current().nextInt(keys));
    return new Operation(kind, key, offset, bytes);
  }

  private static Work lists(String query) {
    return connection -> Operation.list(query);
  }

  /** Full pages from anywhere. */
  private static Work pages(long keys) {
    int folders = Buckets.PAGE_KEYS;
    long pageFolders = Math.max(1, (long) folders * folders / keys);
    int startMax = (int) Math.max(1, folders - pageFolders - 1);
    return connection -> {
      String folder = Buckets.key(ThreadLocalRandom.current().nextInt(startMax));
      return Operation.list("list-type=2&start-after=" + folder + "%2F");
    };
  }

  private List<FeatureCost> measure(List<Comparison> comparisons, ResultFolder kept)
      throws IOException, InterruptedException {
    List<FeatureCost> costs = new ArrayList<>();
    TimeLeft left = new TimeLeft(comparisons.size() * passes.passes());
    for (Comparison comparison : comparisons) {
      List<FeatureCost.Pair> pairs = new ArrayList<>();
      for (int pass = 1; pass <= passes.passes(); pass++) {
        FeatureCost.Pair pair = pair(comparison, pass);
        kept.writeStep(PROFILE, pass, "feature-" + costs.size(), pair);
        pairs.add(pair);
        left.done("%s: %.2f".formatted(comparison.title(), pair.ratio()));
      }
      costs.add(FeatureCost.of(comparison.title(), pairs, comparison.limit()));
    }
    return costs;
  }

  /** The order turns from pass to pass. */
  private FeatureCost.Pair pair(Comparison comparison, int pass) throws InterruptedException {
    if (pass % 2 == 1) {
      double without = micros(comparison.without());
      return new FeatureCost.Pair(without, micros(comparison.with()));
    }
    double with = micros(comparison.with());
    return new FeatureCost.Pair(micros(comparison.without()), with);
  }

  private double micros(Side side) throws InterruptedException {
    Load load =
        new Load(
            Mix.parse("replace"),
            Buckets.OBJECT_BYTES,
            true,
            CLIENTS,
            1,
            0,
            form.warmUpSeconds(0.2, 5),
            form.seconds(0.8, 10),
            seed.seed(),
            0);
    LoadResult result = side.run().run(load, side.work());
    side.run().settle(SETTLE);
    if (result.total().failures() > 0) {
      throw new BenchException("Requests failed: " + result.total().errors());
    }
    return 1e3 * result.used().cpuMillisPerOperation();
  }
}
