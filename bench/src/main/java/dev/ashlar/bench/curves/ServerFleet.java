package dev.ashlar.bench.curves;

import dev.ashlar.bench.TimeLeft;
import dev.ashlar.bench.load.DataSet;
import dev.ashlar.bench.load.Load;
import dev.ashlar.bench.load.LoadResult;
import dev.ashlar.bench.load.LoadRun;
import dev.ashlar.bench.load.Mix;
import dev.ashlar.bench.load.ServerOptions;
import dev.ashlar.bench.process.BenchException;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * A server for each profile, all up at once, or one that runs already, with several storage
 * classes: every step is made on each of them in turn, so that what the machine does meanwhile
 * meets them alike. The order turns with each pass.
 */
final class ServerFleet implements AutoCloseable {
  private static final int WARM_UP_CLIENTS = 8;

  /** Less may be chance. */
  private static final double FASTER = 1.05;

  /** Doublings of a step's time. */
  private static final int LONGER_MAX = 7;

  /** A server or a storage class with its data, ready for the next step. */
  private record Seat(String profile, LoadRun run) {}

  private final List<Seat> seats = new ArrayList<>();
  private final List<AutoCloseable> closed = new ArrayList<>();

  /**
   * What all servers are started and loaded with.
   *
   * @param scratch of servers that are started
   * @param warmUpRounds at most
   */
  record Setting(
      Path launcher,
      Path scratch,
      DataSet data,
      double warmUpSeconds,
      int warmUpRounds,
      long seed) {}

  /** Starts, fills and warms up a server for each profile. */
  static ServerFleet open(List<String> profiles, Setting setting)
      throws IOException, InterruptedException {
    ServerFleet fleet = new ServerFleet();
    try {
      for (String profile : profiles) {
        Path folder = setting.scratch().resolve("server" + fleet.seats.size());
        ServerOptions.Loaded server =
            ServerOptions.own(setting.launcher(), profile, folder, "bench-curves", Map.of());
        fleet.closed.addFirst(server);
        fleet.add(profile, server, setting);
      }
      fleet.warmUp(setting);
      return fleet;
    } catch (IOException | InterruptedException | RuntimeException e) {
      fleet.close();
      throw e;
    }
  }

  /**
   * Fills a running server and warms it up.
   *
   * @param classes empty: the objects have the storage class of their bucket
   */
  static ServerFleet on(ServerOptions.Loaded server, List<String> classes, Setting setting)
      throws IOException, InterruptedException {
    ServerFleet fleet = new ServerFleet();
    try {
      for (String storageClass : classes) {
        fleet.add(storageClass, server.withStorageClass(storageClass), setting);
      }
      if (classes.isEmpty()) {
        fleet.add(ServerOptions.RUNNING, server, setting);
      }
      fleet.warmUp(setting);
      return fleet;
    } catch (IOException | InterruptedException | RuntimeException e) {
      fleet.close();
      throw e;
    }
  }

  private void add(String name, ServerOptions.Loaded server, Setting setting)
      throws IOException, InterruptedException {
    LoadRun.Client client = new LoadRun.Client(0, false, setting.seed());
    LoadRun run = new LoadRun(server, client, setting.data());
    closed.addFirst(run);
    seats.add(new Seat(name, run));
    run.prepare();
  }

  /**
   * All in turn until none gets faster, or often enough: what is measured while the virtual
   * machines still compile, first of all the response curve, would be slower in the first pass.
   */
  private void warmUp(Setting setting) throws InterruptedException {
    if (setting.warmUpSeconds() == 0) {
      return;
    }
    Load load =
        new Load(
            Mix.parse("read=60,patch=38,replace=2"),
            Sweep.BLOCK_BYTES,
            true,
            WARM_UP_CLIENTS,
            1,
            0,
            0,
            setting.warmUpSeconds(),
            setting.seed(),
            0);
    Map<String, Double> fastest = new HashMap<>();
    boolean isFaster = true;
    for (int round = 1; round <= setting.warmUpRounds() && isFaster; round++) {
      isFaster = false;
      StringBuilder told = new StringBuilder("warm-up " + round + ":");
      for (Seat seat : seats) {
        double rate = seat.run().run(load).total().operationsPerSecond();
        double before = fastest.getOrDefault(seat.profile(), 0.0);
        isFaster |= rate > FASTER * before;
        fastest.put(seat.profile(), Math.max(rate, before));
        told.append(rate(seat, rate));
      }
      System.err.println(told.append(" op/s"));
    }
  }

  private static String rate(Seat seat, double rate) {
    String title = CurvesCharts.title(seat.profile());
    return String.format(Locale.ROOT, "  %s %.0f", title, rate);
  }

  /**
   * Makes all passes of all steps.
   *
   * @param settleSeconds behind each step at most, for what the server has put off
   * @param listener hears of each result as it comes
   */
  void measure(List<Sweep.Step> steps, int passes, double settleSeconds, Listener listener)
      throws IOException, InterruptedException {
    TimeLeft progress = new TimeLeft(passes * steps.size());
    List<Seat> order = new ArrayList<>(seats);
    for (int pass = 1; pass <= passes; pass++) {
      for (Sweep.Step step : steps) {
        StringBuilder told = new StringBuilder("pass " + pass + ", " + step.name() + ":");
        for (Seat seat : order) {
          LoadResult result = measured(seat.run(), step.load().withSeed(step.load().seed() + pass));
          listener.measured(seat.profile(), pass, step, result);
          told.append(rate(seat, result.total().operationsPerSecond()));
          if (settleSeconds > 0) {
            seat.run().settle(Duration.ofMillis((long) (settleSeconds * 1e3)));
          }
        }
        progress.done(told.append(" op/s").toString());
      }
      Collections.reverse(order);
    }
  }

  /** Longer where no operation ended in the time, on a slow or busy machine. */
  private static LoadResult measured(LoadRun run, Load load) throws InterruptedException {
    LoadResult result = run.run(load);
    Load longer = load;
    for (int again = 0; again < LONGER_MAX && result.total().operations() == 0; again++) {
      longer = longer.withTimes(longer.warmUpSeconds(), 2 * longer.seconds());
      result = run.run(longer);
    }
    if (result.total().operations() == 0) {
      throw new BenchException(
          "Nothing of %s succeeds: %s".formatted(load.mix(), result.total().errors()));
    }
    return result;
  }

  /** Hears of one pass of one step on one profile. */
  interface Listener {
    void measured(String profile, int pass, Sweep.Step step, LoadResult result) throws IOException;
  }

  @Override
  public void close() {
    for (AutoCloseable each : closed) {
      try {
        each.close();
      } catch (Exception e) {
        System.err.println("could not close: " + e);
      }
    }
  }
}
