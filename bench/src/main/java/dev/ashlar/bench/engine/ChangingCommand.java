package dev.ashlar.bench.engine;

import dev.ashlar.bench.Machine;
import dev.ashlar.bench.Plan;
import dev.ashlar.bench.Planned;
import dev.ashlar.bench.SizeArgument;
import dev.ashlar.bench.TimeLeft;
import dev.ashlar.bench.options.ClientsOption;
import dev.ashlar.bench.options.FolderOption;
import dev.ashlar.bench.options.FormOptions;
import dev.ashlar.bench.options.ObjectOptions;
import dev.ashlar.bench.options.OutputOptions;
import dev.ashlar.bench.options.PassesOption;
import dev.ashlar.bench.options.ProfileArgument;
import dev.ashlar.bench.options.SeedOption;
import dev.ashlar.bench.options.StripeUnitArgument;
import dev.ashlar.bench.result.ResultFolder;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.storage.io.IoMode;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * How much faster data is read and changed than by erasure coding without our optimizations, and
 * how much slower than with replicas: all stores do the same on as many drives in turn, and each of
 * three passes begins with another one of them, because the first finds code that is not compiled
 * yet. Only one of them is open at a time, so that what one puts off is not done in the time of the
 * next.
 */
@Command(
    name = "changing",
    description = {
      "Random overwrites, reads and appends on the engine with real drives and metadata, without"
          + " HTTP: fast, classic and three replicas in turn; medians and ratios.",
      "By itself a look of two minutes: three works on 8 objects of 64 MiB, passes of 1 s after 0.4 s"
          + " of the same work, hardly warm. --full: all works on 16 objects, passes of 5 s after 6 s,"
          + " about half an hour; quote only that. First of all each store does every work for a"
          + " while, ten times the warm-up in all; with --full again, up to five times, until the"
          + " JVM has compiled nearly all that they need."
    },
    mixinStandardHelpOptions = true)
public final class ChangingCommand implements Callable<Integer>, Planned {
  private static final int PAYLOAD_BYTES = 4 << 20;
  private static final long OBJECT_BYTES = 64 << 20;
  private static final int FIRST_WARM_UP_TIMES = 10;
  private static final int WARM_UP_ROUNDS_MAX = 5;

  /** Of a processor: what is compiled then is rarely run. */
  private static final double COMPILER_SHARE_MAX = 0.2;

  private static final double FILL_BYTES_PER_SECOND = 150e6;
  private static final double OPEN_SECONDS = 1.5;
  private static final double DRAIN_SECONDS = 0.7;
  private static final List<Work> QUICK = List.of(Work.OVERWRITE_4K, Work.READ_16K, Work.MIX_16K);

  @Spec private CommandSpec spec = CommandSpec.create();

  @Mixin private FolderOption folder = new FolderOption();

  @Option(
      names = "--profile",
      paramLabel = "K+M",
      converter = ProfileArgument.class,
      defaultValue = "6+2",
      description = "Which is compared with its classic mode and 1+2 (default: 6+2).")
  private String profile = "6+2";

  @Option(
      names = "--classic-unit",
      split = ",",
      paramLabel = "BYTES",
      converter = StripeUnitArgument.class,
      defaultValue = "4KiB",
      description =
          "Stripe unit of the classic mode, a multiple of 4KiB up to 1MiB; several make a store each"
              + " (default: 4KiB, as a server has it; the fast form always has 16KiB).")
  private List<Integer> classicUnits = List.of();

  @Mixin private FormOptions form = new FormOptions();

  @Mixin private PassesOption passes = new PassesOption();

  @Mixin private ClientsOption clients = new ClientsOption();

  @Mixin private ObjectOptions objects = new ObjectOptions();

  @Option(
      names = "--io",
      paramLabel = "MODE",
      defaultValue = "AUTO",
      description =
          "AUTO as a server does; DIRECT: every read comes from the drive, as where the data is"
              + " much larger than memory; BUFFERED (default: AUTO).")
  private IoMode io = IoMode.AUTO;

  @Mixin private NetworkOptions network = new NetworkOptions();

  @Mixin private DriveRateOptions rate = new DriveRateOptions();

  @Option(
      names = "--recent-memory",
      paramLabel = "BYTES",
      converter = SizeArgument.class,
      description =
          "Direct memory that the drives of a store together have for blocks that changes have"
              + " written lately, as much as ASHLAR_DIRECT_MEMORY leaves (default: 32MiB, as a"
              + " server with 512m of that; each drive has at least 2MiB).")
  private long recentBytes = LocalEngine.Memory.RECENT_BYTES;

  @Option(
      names = "--work",
      split = ",",
      description =
          "Only these: ${COMPLETION-CANDIDATES} (default: OVERWRITE_4K, READ_16K and MIX_16K;"
              + " full: all).")
  private List<Work> works = List.of();

  @Mixin private SeedOption seed = new SeedOption();

  @Mixin private OutputOptions output = new OutputOptions();

  private final LocalEngine.Memory memory = LocalEngine.Memory.ofAServer();

  @Override
  public Plan plan() {
    double fill = (double) objects().count() * objects().bytes() / FILL_BYTES_PER_SECOND;
    int stores = profiles().size();
    double eachPass = OPEN_SECONDS + warmUpSeconds() + seconds() + DRAIN_SECONDS;
    return new Plan()
        .add(stores, 2 * OPEN_SECONDS + fill)
        .add(stores * warmUpRoundsMax(), firstWarmUpSeconds() + works().size() * DRAIN_SECONDS)
        .add(stores * works().size() * passes.passes(), eachPass);
  }

  @Override
  public Integer call() throws Exception {
    if (objects().bytes() < 1 || objects().bytes() % PAYLOAD_BYTES != 0) {
      throw new ParameterException(spec.commandLine(), "--object-size: a multiple of 4MiB");
    }
    if (rate.bytesPerSecond() < 1) {
      throw new ParameterException(spec.commandLine(), "--drive-throughput: at least 1");
    }
    try (Network between = network.open()) {
      ResultFolder kept = output.newFolder("changing");
      try (ScratchFolder scratch = folder.newScratch()) {
        ChangingResult result = measure(scratch, between, kept);
        kept.write("report.json", result);
        output.print(result, result::print);
      }
    }
    return 0;
  }

  private ChangingResult measure(
      ScratchFolder scratch, @Nullable Network between, ResultFolder kept) throws Exception {
    ByteBuffer payload = payload(seed.seed());
    List<LocalEngine.Place> places = new ArrayList<>();
    List<Double> before = new ArrayList<>();
    for (Profile each : profiles()) {
      LocalEngine.Place place =
          LocalEngine.Place.in(scratch.child("engine" + places.size()), each)
              .with(drives(), io, rate.ofADrive(), between);
      places.add(place);
      try (LocalEngine engine = open(place)) {
        prepare(engine, payload);
        before.add(space(engine));
      }
    }
    double compilerShare = warmUp(places, payload);
    List<ChangingResult.Row> rows = new ArrayList<>();
    TimeLeft left = new TimeLeft(works().size() * passes.passes() * places.size());
    for (Work work : works()) {
      rows.addAll(rows(work, measure(places, work, payload, left, kept)));
    }
    List<ChangingResult.Space> space = new ArrayList<>();
    for (LocalEngine.Place place : places) {
      try (LocalEngine engine = open(place)) {
        double first = before.get(space.size());
        space.add(new ChangingResult.Space(title(place.profile()), first, space(engine)));
      }
    }
    String machine = Machine.describe(scratch.child(""));
    return new ChangingResult(machine, conditions(compilerShare), rows, space);
  }

  /** Each does every work; returns what the compiler took of a processor in the end. */
  private double warmUp(List<LocalEngine.Place> places, ByteBuffer payload) throws Exception {
    double share = 1;
    for (int round = 1; round <= warmUpRoundsMax() && share > COMPILER_SHARE_MAX; round++) {
      CompilerLoad compiler = new CompilerLoad();
      for (LocalEngine.Place place : places) {
        try (LocalEngine engine = open(place)) {
          for (Work work : works()) {
            warmUp(engine, work, load(firstWarmUpSeconds() / works().size(), payload, 0));
          }
        }
      }
      share = compiler.share();
      System.err.printf(
          Locale.ROOT,
          "warm-up %d: the compiler took %.0f %% of a processor%n",
          round,
          100 * share);
    }
    return share;
  }

  /** Without the last where it is replicas themselves that are looked at. */
  private List<Profile> profiles() {
    Profile asked = Profile.parse(profile, 0);
    int dataShards = asked.dataShards();
    int parityShards = asked.parityShards();
    List<Profile> profiles = new ArrayList<>();
    profiles.add(new Profile(dataShards, parityShards, Profile.DEFAULT_STRIPE_UNIT));
    for (int unit : classicUnits) {
      profiles.add(new Profile(dataShards, parityShards, unit, true));
    }
    profiles.add(new Profile(1, 2, Profile.DEFAULT_STRIPE_UNIT));
    return profiles.stream().distinct().toList();
  }

  /** With its unit where that is not the usual one. */
  private static String title(Profile profile) {
    boolean isUsual = profile.equals(Profile.parse(profile.toString(), 0));
    return isUsual ? profile.toString() : profile + ", " + (profile.stripeUnit() >> 10) + " KiB";
  }

  /** The same for all: as many as the widest needs. */
  private int drives() {
    return profiles().stream().mapToInt(Profile::shards).max().orElseThrow();
  }

  private static List<ChangingResult.Row> rows(
      Work work, Map<LocalEngine.Place, List<Pass>> measured) {
    List<ChangingResult.Row> rows = new ArrayList<>();
    measured.forEach(
        (place, each) ->
            rows.add(
                ChangingResult.Row.of(
                    work, title(place.profile()), each, rows.isEmpty() ? null : rows.getFirst())));
    return rows;
  }

  private List<Work> works() {
    return !works.isEmpty() ? works : form.isFull() ? List.of(Work.values()) : QUICK;
  }

  private double seconds() {
    return form.seconds(1, 5);
  }

  private double warmUpSeconds() {
    return form.warmUpSeconds(0.4, 6);
  }

  private int warmUpRoundsMax() {
    return form.isFull() ? WARM_UP_ROUNDS_MAX : 1;
  }

  private double firstWarmUpSeconds() {
    return FIRST_WARM_UP_TIMES * warmUpSeconds();
  }

  private LocalEngine open(LocalEngine.Place place) throws Exception {
    LocalEngine engine = place.open(memory.withRecentBytes(recentBytes));
    engine.startHousekeeping();
    return engine;
  }

  private static ByteBuffer payload(long seed) {
    byte[] bytes = new byte[PAYLOAD_BYTES];
    new Random(seed).nextBytes(bytes);
    return ByteBuffer.allocateDirect(PAYLOAD_BYTES).put(bytes).flip();
  }

  private Work.Objects objects() {
    return new Work.Objects(
        objects.objects(form.isFull() ? 16 : 8), objects.objectBytes(OBJECT_BYTES));
  }

  private void prepare(LocalEngine engine, ByteBuffer payload) throws Exception {
    int times = (int) (objects().bytes() / PAYLOAD_BYTES);
    for (int number = 0; number < objects().count(); number++) {
      engine.put(objects().key(number), payload, times);
    }
  }

  /** Per store what its passes came to. */
  private Map<LocalEngine.Place, List<Pass>> measure(
      List<LocalEngine.Place> places,
      Work work,
      ByteBuffer payload,
      TimeLeft left,
      ResultFolder kept)
      throws Exception {
    Map<LocalEngine.Place, List<Pass>> measured = new LinkedHashMap<>();
    places.forEach(place -> measured.put(place, new ArrayList<>()));
    List<LocalEngine.Place> order = new ArrayList<>(places);
    for (int number = 1; number <= passes.passes(); number++) {
      for (LocalEngine.Place place : order) {
        try (LocalEngine engine = open(place)) {
          warmUp(engine, work, load(warmUpSeconds(), payload, 0));
          Pass pass = Pass.run(engine, work, load(seconds(), payload, number));
          String title = title(place.profile());
          kept.writeStep(title, number, work.name().toLowerCase(Locale.ROOT), pass);
          measured.computeIfAbsent(place, first -> new ArrayList<>()).add(pass);
          left.done(
              "%s, pass %d, %s: %.0f op/s"
                  .formatted(work.title(), number, title, pass.operationsPerSecond()));
        }
      }
      Collections.rotate(order, 1);
    }
    return measured;
  }

  private static void warmUp(LocalEngine engine, Work work, Pass.Load load) throws Exception {
    if (load.span().isPositive()) {
      Pass.run(engine, work, load);
    }
  }

  /**
   * @param pass each has places of its own
   */
  private Pass.Load load(double spanSeconds, ByteBuffer payload, int pass) {
    Duration span = Duration.ofMillis(Math.round(1e3 * spanSeconds));
    return new Pass.Load(clients.clients(), span, objects(), payload, seed.seed() + 1000L * pass);
  }

  private String conditions(double compilerShare) {
    return String.format(
        Locale.ROOT,
        "%d objects of %d MiB, %d clients, %.1f s after %.1f s of the same work, medians of %d"
            + " passes. %d drives%s%s, up to %d MiB for blocks changed lately. Reads and"
            + " writes: %s. CPU: the whole process', deferred work included. I/Os: shard reads and"
            + " commits, without compaction and new segments. Before that the JVM's compiler took %.0f %% of a processor.",
        objects().count(),
        objects().bytes() >> 20,
        clients.clients(),
        seconds(),
        warmUpSeconds(),
        passes.passes(),
        drives(),
        rate.text(),
        network.text(),
        recentBytes >> 20,
        io,
        100 * compilerShare);
  }

  /** Bytes on drives per byte of the objects. */
  private double space(LocalEngine engine) throws Exception {
    engine.drain();
    return (double) engine.liveBytes() / (objects().bytes() * objects().count());
  }
}
