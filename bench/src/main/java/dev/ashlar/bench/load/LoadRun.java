package dev.ashlar.bench.load;

import dev.ashlar.bench.process.AtExit;
import dev.ashlar.bench.process.BenchException;
import dev.ashlar.bench.process.Usage;
import dev.ashlar.bench.process.UsageSampler;
import dev.ashlar.bench.process.UsageSeries;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/** One bucket of one server under load: prepares objects, runs loads on them, cleans up. */
public final class LoadRun implements AutoCloseable {
  private static final double NANOS = 1e9;
  private static final double MILLI_NANOS = 1e6;
  private static final double MEBIBYTE = 1 << 20;

  private static final Duration SETTLED_SPAN = Duration.ofMillis(200);

  /** How long, of the measured time, an open loop goes on for requests that are late. */
  private static final double LAST_CALL_SHARE = 0.5;

  private final Generator generator;
  private final BucketAdmin bucket;
  private final String place;
  private final @Nullable String storageClass;

  /** Of a server that is not ended: what may be left on it when this process is. */
  private final @Nullable AtExit staying;

  private final DataSet data;
  private final @Nullable UsageSampler sampler;
  private final List<String> written = new ArrayList<>();
  private final Map<Kind, Long> answered = new EnumMap<>(Kind.class);
  private int runs;

  /**
   * How the generator works.
   *
   * @param threads 0: chosen by the number of processors
   * @param isSigned whether request bodies are covered by the signature
   */
  public record Client(int threads, boolean isSigned, long seed) {}

  public LoadRun(ServerOptions.Loaded server, Client client, DataSet data)
      throws IOException, InterruptedException {
    this.data = data;
    place = "bucket %s of %s".formatted(server.target().bucket(), server.title());
    storageClass = server.target().storageClass();
    bucket = new BucketAdmin(server.target());
    bucket.create();
    staying = server.own() != null ? null : new AtExit("tell-bucket", () -> tell("interrupted"));
    generator = new Generator(server.target(), client.threads(), client.isSigned(), client.seed());
    ProcessHandle process = server.process();
    sampler = process == null ? null : new UsageSampler(process);
  }

  /** Puts the objects. */
  public void prepare() throws InterruptedException {
    written.addAll(data.keys());
    String what = storageClass == null ? "put the objects" : "put the objects of " + storageClass;
    require(what, generator.complete(data.preparation()));
  }

  /** Does all of this work, which ends by itself, as fast as it can. */
  public void fill(Work work) throws InterruptedException {
    require("put the objects", generator.complete(work));
  }

  /**
   * Puts a subresource of the bucket.
   *
   * @param subresource in canonical form, as {@code versioning=}
   */
  public void configure(String subresource, String document)
      throws IOException, InterruptedException {
    bucket.configure(subresource, document);
  }

  /** One load from warming up to its last answer. */
  public LoadResult run(Load load) throws InterruptedException {
    Mixture mixture = new Mixture(load, data, load.connections(), "run" + ++runs);
    LoadResult result = run(load, mixture);
    written.addAll(mixture.keys());
    return result;
  }

  /** The same with work of the caller's instead of the load's mix; its objects stay. */
  public LoadResult run(Load load, Work all) throws InterruptedException {
    int connections = load.connections();
    long start = System.nanoTime();
    long from = load.isCounted() ? start : start + (long) (load.warmUpSeconds() * NANOS);
    long end =
        load.isCounted() ? start + Long.MAX_VALUE / 4 : from + (long) (load.seconds() * NANOS);
    long lastCall = end + (long) (load.seconds() * LAST_CALL_SHARE * NANOS);
    int loops = Math.min(generator.threads(), connections);
    double interval = load.isOpen() ? NANOS / load.rate() : 0;
    Generator.PaceOf paces =
        loop ->
            load.isOpen()
                ? Pace.open(start + (long) (loop * interval), end, lastCall, loops * interval)
                : Pace.closed(start, end);
    Instant begun = Instant.now().plusNanos(from - System.nanoTime());
    Loop.Window window = new Loop.Window(from, end, load.isOpen());
    Work work = load.isCounted() ? all.limitedTo(load.operations()) : all;
    Tally tally = generator.run(work, connections, paces, window);
    tally.answered().forEach((kind, times) -> answered.merge(kind, times, Long::sum));
    Duration measured = Duration.ofNanos((load.isCounted() ? System.nanoTime() : end) - from);
    return result(begun, measured, load, tally);
  }

  private LoadResult result(Instant begun, Duration measured, Load load, Tally tally) {
    double seconds = measured.toNanos() / NANOS;
    Tally.Count all = new Tally.Count();
    Map<String, LoadResult.Figures> kinds = new TreeMap<>();
    tally
        .counts()
        .forEach(
            (kind, count) -> {
              all.add(count);
              kinds.put(kind.title(), figures(count, seconds));
            });
    return new LoadResult(
        begun.truncatedTo(ChronoUnit.SECONDS).toString(),
        load,
        data.objects(),
        data.objectBytes(),
        seconds,
        figures(all, seconds),
        kinds,
        tally.unsent(),
        byOperation(tally.answered()),
        use(begun, begun.plus(measured), all.operations),
        new LoadResult.Client(generator.threads(), tally.busyShare()));
  }

  private static LoadResult.Figures figures(Tally.Count count, double seconds) {
    Histogram latency = count.latency;
    return new LoadResult.Figures(
        count.operations,
        count.bytes,
        count.operations / seconds,
        count.bytes / MEBIBYTE / seconds,
        new LoadResult.Latency(
            latency.getMean() / MILLI_NANOS,
            latency.getValueAtPercentile(50) / MILLI_NANOS,
            latency.getValueAtPercentile(90) / MILLI_NANOS,
            latency.getValueAtPercentile(99) / MILLI_NANOS,
            latency.getValueAtPercentile(99.9) / MILLI_NANOS,
            latency.getMaxValue() / MILLI_NANOS),
        count.errors);
  }

  private LoadResult.@Nullable Use use(Instant begun, Instant end, long operations) {
    if (sampler == null) {
      return null;
    }
    UsageSeries usage = sampler.series();
    Usage first = usage.at(begun);
    Usage last = usage.at(end);
    UsageSeries within = usage.within(begun, end);
    double each = Math.max(1, operations);
    double serverMillis = last.serverCpuMillis() - first.serverCpuMillis();
    double machineMillis = last.machineCpuMillis() - first.machineCpuMillis();
    return new LoadResult.Use(
        serverMillis / each,
        serverMillis * MILLI_NANOS / Duration.between(begun, end).toNanos(),
        Math.max(0, machineMillis - serverMillis) / each,
        within.rssBytesMean() / MEBIBYTE,
        within.rssBytesMax() / MEBIBYTE);
  }

  /** Waits until the server has done what it put off, at most so long. */
  public void settle(Duration longest) throws InterruptedException {
    if (sampler != null) {
      sampler.awaitIdle(SETTLED_SPAN, longest);
    }
  }

  /** All answers so far, as the server counts them. */
  public Map<String, Long> answered() {
    return byOperation(answered);
  }

  private static Map<String, Long> byOperation(Map<Kind, Long> answered) {
    Map<String, Long> operations = new TreeMap<>();
    answered.forEach((kind, times) -> operations.merge(kind.s3Operation(), times, Long::sum));
    return operations;
  }

  /** Deletes what was put, and the bucket. */
  private void cleanUp() {
    try {
      require("delete the objects", generator.complete(DataSet.removal(written)));
      bucket.delete();
    } catch (BenchException | IOException e) {
      tell(e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      tell("interrupted");
    }
  }

  private void tell(@Nullable String reason) {
    System.err.println("Left behind: " + place + " (" + reason + ")");
  }

  private void require(String what, Tally tally) {
    tally.answered().forEach((kind, times) -> answered.merge(kind, times, Long::sum));
    Map<String, Long> errors = new TreeMap<>();
    tally.counts().values().forEach(count -> errors.putAll(count.errors));
    if (!errors.isEmpty()) {
      throw new BenchException("Could not " + what + ": " + errors);
    }
  }

  /** On a server that stays it leaves nothing, or names it. */
  @Override
  public void close() {
    if (staying != null) {
      cleanUp();
      staying.close();
    }
    generator.close();
    if (sampler != null) {
      sampler.close();
    }
  }
}
