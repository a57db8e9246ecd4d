package dev.ashlar.bench.engine;

import dev.ashlar.bench.Machine;
import dev.ashlar.protocol.model.Profile;
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
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * How much faster data is read and changed than by erasure coding without our optimizations, and
 * how much slower than with replicas: the three do the same in turn, and the order turns from round
 * to round.
 */
@Command(
    name = "changing",
    description =
        "Random overwrites, reads and appends on the engine with real drives and metadata, without"
            + " HTTP: fast, classic and three replicas in turn; medians and ratios.",
    mixinStandardHelpOptions = true)
public final class ChangingCommand implements Callable<Integer> {
  private static final int PAYLOAD_BYTES = 4 << 20;

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

  @Option(names = "--rounds", defaultValue = "3", description = "Default: 3.")
  private int rounds = 3;

  @Option(
      names = "--seconds",
      defaultValue = "4",
      description = "Measured time per work, profile and round (default: 4).")
  private int seconds = 4;

  @Option(
      names = "--warm-up",
      paramLabel = "SECONDS",
      defaultValue = "3",
      description =
          "The same work beforehand, once for each profile, and first of all mixed work for three"
              + " times as long (default: 3).")
  private int warmUpSeconds = 3;

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
      names = "--work",
      split = ",",
      description = "Only these: ${COMPLETION-CANDIDATES} (default: all).")
  private List<Work> works = List.of(Work.values());

  private final PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);

  @Override
  public Integer call() throws Exception {
    long seed = System.nanoTime();
    ByteBuffer payload = payload(seed);
    LocalEngine.Memory memory = LocalEngine.Memory.ofAServer();
    Profile fast = Profile.parse(shape, 0);
    Profile classic = Profile.parse(shape + ",optimizations=off", 0);
    Profile replicas = Profile.parse("1+2", 0);
    try (ScratchFolder scratch = ScratchFolder.in(folder);
        LocalEngine fastEngine = new LocalEngine(scratch.child("fast"), fast, memory);
        LocalEngine classicEngine = new LocalEngine(scratch.child("classic"), classic, memory);
        LocalEngine replicasEngine = new LocalEngine(scratch.child("replicas"), replicas, memory)) {
      preface(scratch.child(""));
      List<LocalEngine> engines = List.of(fastEngine, classicEngine, replicasEngine);
      for (LocalEngine engine : engines) {
        prepare(engine, payload);
      }
      List<Double> spaceBefore = space(engines);
      for (LocalEngine engine : engines) {
        Pass.run(engine, Work.MIX_16K, load(3 * warmUpSeconds, payload, seed));
      }
      ChangingReport report = new ChangingReport(List.of(fast, classic, replicas), out);
      report.header();
      for (Work work : works) {
        report.rows(work, measure(engines, work, payload, seed));
      }
      report.space(spaceBefore, space(engines));
    }
    return 0;
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
    engine.startHousekeeping();
    int times = (int) (objects().bytes() / PAYLOAD_BYTES);
    for (int number = 0; number < objects; number++) {
      engine.put(objects().key(number), payload, times);
    }
  }

  /** Per engine what its rounds came to. */
  private List<List<Pass>> measure(
      List<LocalEngine> engines, Work work, ByteBuffer payload, long seed) throws Exception {
    List<List<Pass>> passes = new ArrayList<>();
    List<Integer> order = new ArrayList<>();
    for (LocalEngine engine : engines) {
      Pass.run(engine, work, load(warmUpSeconds, payload, seed));
      order.add(passes.size());
      passes.add(new ArrayList<>());
    }
    for (int round = 1; round <= rounds; round++) {
      for (int index : order) {
        LocalEngine engine = engines.get(index);
        Pass pass = Pass.run(engine, work, load(seconds, payload, seed + 1000L * round));
        passes.get(index).add(pass);
        System.err.printf(
            Locale.ROOT,
            "%s, round %d, %s: %.0f op/s%n",
            work.title(),
            round,
            engine.profile(),
            pass.operationsPerSecond());
      }
      Collections.reverse(order);
    }
    return passes;
  }

  private Pass.Load load(int spanSeconds, ByteBuffer payload, long seed) {
    return new Pass.Load(concurrency, Duration.ofSeconds(spanSeconds), objects(), payload, seed);
  }

  private void preface(Path root) throws IOException {
    out.println(Machine.describe(root));
    out.printf(
        "%d objects of %d MiB, %d clients, %d s after %d s of the same work, medians of %d rounds."
            + " CPU: the whole process', deferred work included.%n%n",
        objects, objectMebibytes, concurrency, seconds, warmUpSeconds, rounds);
  }

  /** Bytes on drives per byte of the objects. */
  private List<Double> space(List<LocalEngine> engines) throws Exception {
    List<Double> shares = new ArrayList<>();
    for (LocalEngine engine : engines) {
      engine.drain();
      shares.add((double) engine.liveBytes() / (objects().bytes() * objects));
    }
    return shares;
  }
}
