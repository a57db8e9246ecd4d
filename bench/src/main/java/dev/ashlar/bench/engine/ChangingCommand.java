package dev.ashlar.bench.engine;

import dev.ashlar.bench.Machine;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.storage.io.IoMode;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * How much faster data is read and changed than by erasure coding without our optimizations, and
 * how much slower than with replicas: the three do the same in turn, and the order turns from round
 * to round. Only one of them is open at a time, so that what one puts off is not done in the time
 * of the next.
 */
@Command(
    name = "changing",
    description = {
      "Random overwrites, reads and appends on the engine with real drives and metadata, without"
          + " HTTP: fast, classic and three replicas in turn; medians and ratios.",
      "As it is, a quick look of two minutes: four works, one round of 3 s each, hardly warm. --full:"
          + " all works, three rounds of 5 s after 6 s of the same work; quote only that."
    },
    mixinStandardHelpOptions = true)
public final class ChangingCommand implements Callable<Integer> {
  private static final int PAYLOAD_BYTES = 4 << 20;
  private static final List<Work> QUICK =
      List.of(Work.OVERWRITE_4K, Work.READ_16K, Work.MIX_16K, Work.APPEND_4K);

  @Option(
      names = "--folder",
      defaultValue = ".",
      description = "Where the drive folders are made, and removed again (default: here).")
  private Path folder = Path.of(".");

  @Option(
      names = "--shape",
      paramLabel = "K+M",
      defaultValue = "6+2",
      description = "Default: 6+2.")
  private String shape = "6+2";

  @Option(names = "--full", description = "All works, for long enough to be quoted.")
  private boolean isFull;

  @Option(names = "--rounds", description = "Default: 1; full: 3.")
  private @Nullable Integer rounds;

  @Option(
      names = "--seconds",
      description = "Measured time per work, profile and round (default: 3; full: 5).")
  private @Nullable Integer seconds;

  @Option(
      names = "--warm-up",
      paramLabel = "SECONDS",
      description =
          "The same work before each measurement, and first of all mixed work for ten times as"
              + " long (default: 1; full: 6).")
  private @Nullable Integer warmUpSeconds;

  @Option(names = "--concurrency", defaultValue = "16", description = "Default: 16.")
  private int concurrency = 16;

  @Option(names = "--objects", defaultValue = "16", description = "Default: 16.")
  private int objects = 16;

  @Option(
      names = "--object-mib",
      paramLabel = "N",
      defaultValue = "64",
      description = "Size of each, a multiple of 4 (default: 64).")
  private int objectMebibytes = 64;

  @Option(
      names = "--io",
      paramLabel = "MODE",
      defaultValue = "AUTO",
      description =
          "AUTO as a server does; DIRECT: every read comes from the drive, as where the data is"
              + " much larger than memory; BUFFERED (default: AUTO).")
  private IoMode io = IoMode.AUTO;

  @Option(
      names = "--work",
      split = ",",
      description =
          "Only these: ${COMPLETION-CANDIDATES} (default: OVERWRITE_4K, READ_16K, MIX_16K and"
              + " APPEND_4K; full: all).")
  private List<Work> works = List.of();

  private final LocalEngine.Memory memory = LocalEngine.Memory.ofAServer();
  private final PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);

  @Override
  public Integer call() throws Exception {
    long seed = System.nanoTime();
    ByteBuffer payload = payload(seed);
    List<Profile> profiles =
        List.of(
            Profile.parse(shape, 0),
            Profile.parse(shape + ",optimizations=off", 0),
            Profile.parse("1+2", 0));
    try (ScratchFolder scratch = ScratchFolder.in(folder)) {
      preface(scratch.child(""));
      List<LocalEngine.Place> places = new ArrayList<>();
      List<Double> spaceBefore = new ArrayList<>();
      for (Profile profile : profiles) {
        LocalEngine.Place place =
            LocalEngine.Place.in(scratch.child("engine" + places.size()), profile).with(io);
        places.add(place);
        try (LocalEngine engine = open(place)) {
          prepare(engine, payload);
          spaceBefore.add(space(engine));
          warmUp(engine, Work.MIX_16K, load(10 * warmUp(), payload, seed));
        }
      }
      ChangingReport report = new ChangingReport(profiles, out);
      report.header();
      for (Work work : works()) {
        report.rows(work, measure(places, work, payload, seed));
      }
      List<Double> spaceAfter = new ArrayList<>();
      for (LocalEngine.Place place : places) {
        try (LocalEngine engine = open(place)) {
          spaceAfter.add(space(engine));
        }
      }
      report.space(spaceBefore, spaceAfter);
    }
    return 0;
  }

  private List<Work> works() {
    return !works.isEmpty() ? works : isFull ? List.of(Work.values()) : QUICK;
  }

  private int rounds() {
    return rounds != null ? rounds : isFull ? 3 : 1;
  }

  private int seconds() {
    return seconds != null ? seconds : isFull ? 5 : 3;
  }

  private int warmUp() {
    return warmUpSeconds != null ? warmUpSeconds : isFull ? 6 : 1;
  }

  private LocalEngine open(LocalEngine.Place place) throws Exception {
    LocalEngine engine = place.open(memory);
    engine.startHousekeeping();
    return engine;
  }

  private static ByteBuffer payload(long seed) {
    byte[] bytes = new byte[PAYLOAD_BYTES];
    new Random(seed).nextBytes(bytes);
    return ByteBuffer.allocateDirect(PAYLOAD_BYTES).put(bytes).flip();
  }

  private Work.Objects objects() {
    return new Work.Objects(objects, (long) objectMebibytes << 20);
  }

  private void prepare(LocalEngine engine, ByteBuffer payload) throws Exception {
    int times = (int) (objects().bytes() / PAYLOAD_BYTES);
    for (int number = 0; number < objects; number++) {
      engine.put(objects().key(number), payload, times);
    }
  }

  /** Per store what its rounds came to. */
  private List<List<Pass>> measure(
      List<LocalEngine.Place> places, Work work, ByteBuffer payload, long seed) throws Exception {
    List<List<Pass>> passes = new ArrayList<>();
    List<Integer> order = new ArrayList<>();
    for (int i = 0; i < places.size(); i++) {
      order.add(i);
      passes.add(new ArrayList<>());
    }
    for (int round = 1; round <= rounds(); round++) {
      for (int index : order) {
        try (LocalEngine engine = open(places.get(index))) {
          warmUp(engine, work, load(warmUp(), payload, seed));
          Pass pass = Pass.run(engine, work, load(seconds(), payload, seed + 1000L * round));
          passes.get(index).add(pass);
          System.err.printf(
              Locale.ROOT,
              "%s, round %d, %s: %.0f op/s%n",
              work.title(),
              round,
              engine.profile(),
              pass.operationsPerSecond());
        }
      }
      Collections.reverse(order);
    }
    return passes;
  }

  private static void warmUp(LocalEngine engine, Work work, Pass.Load load) throws Exception {
    if (load.span().isPositive()) {
      Pass.run(engine, work, load);
    }
  }

  private Pass.Load load(int spanSeconds, ByteBuffer payload, long seed) {
    return new Pass.Load(concurrency, Duration.ofSeconds(spanSeconds), objects(), payload, seed);
  }

  private void preface(Path root) throws IOException {
    out.println(Machine.describe(root));
    out.printf(
        "%d objects of %d MiB, %d clients, %d s after %d s of the same work, medians of %d round(s)."
            + " Reads and writes: %s. CPU: the whole process', deferred work included.%n%n",
        objects, objectMebibytes, concurrency, seconds(), warmUp(), rounds(), io);
  }

  /** Bytes on drives per byte of the objects. */
  private double space(LocalEngine engine) throws Exception {
    engine.drain();
    return (double) engine.liveBytes() / (objects().bytes() * objects);
  }
}
