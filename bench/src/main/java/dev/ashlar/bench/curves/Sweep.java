package dev.ashlar.bench.curves;

import dev.ashlar.bench.load.Load;
import dev.ashlar.bench.load.Mix;
import dev.ashlar.bench.process.BenchException;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** Which loads belong together in a chart, and how they differ. */
public enum Sweep {
  /** Throughput against latency: more and more requests on their way. */
  RESPONSE,
  /** Block sizes, one request at a time. */
  BLOCK_READ,
  BLOCK_PATCH,
  /** More and more clients with one request each. */
  CLIENTS_READ,
  CLIENTS_PATCH,
  /** Large blocks one behind the other. */
  SEQUENTIAL;

  static final long BLOCK_BYTES = 16 << 10;
  static final long OBJECT_BYTES = 4 << 20;
  private static final int SEQUENTIAL_CLIENTS = 4;

  /**
   * How far the sweeps go.
   *
   * @param seconds measured of each step and pass
   * @param leadInSeconds of the same load before them
   * @param settleSeconds behind each step at most, for what the server has put off
   */
  record Extent(
      List<Integer> depths,
      List<Long> blockBytes,
      List<Integer> clients,
      double seconds,
      double leadInSeconds,
      double settleSeconds) {
    Extent {
      depths = List.copyOf(new LinkedHashSet<>(depths));
      blockBytes = List.copyOf(new LinkedHashSet<>(blockBytes));
      clients = List.copyOf(new LinkedHashSet<>(clients));
      if (blockBytes.stream().anyMatch(bytes -> bytes < 1 || bytes > OBJECT_BYTES)) {
        throw new BenchException("A block has 1 byte to 4 MiB, as the objects that it is in.");
      }
    }

    /** So that writes of large objects do not fill the drives. */
    private static final double WRITING_SECONDS_MAX = 2;

    /** For a look: all of it in two minutes. */
    static Extent quick() {
      return new Extent(
          List.of(1, 2, 4, 8, 16, 32),
          List.of(4L << 10, 16L << 10, 128L << 10, 4L << 20),
          List.of(1, 4, 8, 16),
          0.35,
          0.05,
          0);
    }

    /** For figures that are believed. */
    static Extent full() {
      return new Extent(
          List.of(1, 2, 4, 8, 16, 32, 64, 128, 256),
          List.of(4L << 10, 16L << 10, 32L << 10, 64L << 10, 256L << 10, 1L << 20, 4L << 20),
          List.of(1, 2, 4, 6, 8, 10, 12, 14, 16),
          10,
          2,
          5);
    }

    double seconds(Sweep sweep) {
      return sweep == SEQUENTIAL ? Math.min(seconds, WRITING_SECONDS_MAX) : seconds;
    }
  }

  /**
   * One load of a sweep.
   *
   * @param x what the sweep varies: requests on their way, bytes or clients
   */
  record Step(Sweep sweep, String label, double x, Load load) {
    String name() {
      return sweep.title() + "-" + label;
    }
  }

  static List<Step> steps(Extent extent, long seed) {
    return Stream.of(values()).flatMap(sweep -> sweep.stepsOf(extent, seed)).toList();
  }

  String title() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  private Stream<Step> stepsOf(Extent extent, long seed) {
    return switch (this) {
      case RESPONSE ->
          extent.depths().stream()
              .map(
                  depth ->
                      step(
                          "depth-" + depth,
                          depth,
                          load("read=70,patch=30", BLOCK_BYTES, 1, depth, extent, seed)));
      case BLOCK_READ -> blocks("read", extent, seed);
      case BLOCK_PATCH -> blocks("patch", extent, seed);
      case CLIENTS_READ -> clients("read", extent, seed);
      case CLIENTS_PATCH -> clients("patch", extent, seed);
      case SEQUENTIAL ->
          Stream.of("read", "write")
              .map(
                  mix ->
                      step(
                          mix,
                          OBJECT_BYTES,
                          load(mix, OBJECT_BYTES, SEQUENTIAL_CLIENTS, 1, extent, seed)));
    };
  }

  private Stream<Step> blocks(String mix, Extent extent, long seed) {
    return extent.blockBytes().stream()
        .map(bytes -> step(size(bytes), bytes, load(mix, bytes, 1, 1, extent, seed)));
  }

  private Stream<Step> clients(String mix, Extent extent, long seed) {
    return extent.clients().stream()
        .map(
            clients ->
                step("" + clients, clients, load(mix, BLOCK_BYTES, clients, 1, extent, seed)));
  }

  private Step step(String label, double x, Load load) {
    return new Step(this, label, x, load);
  }

  private Load load(String mix, long blockBytes, int clients, int depth, Extent extent, long seed) {
    return new Load(
        Mix.parse(mix),
        blockBytes,
        this != SEQUENTIAL,
        clients,
        depth,
        0,
        extent.leadInSeconds(),
        extent.seconds(this),
        seed,
        0);
  }

  /** Exactly: no two sizes have the same. */
  private static String size(long bytes) {
    if (bytes % (1 << 10) != 0) {
      return bytes + " bytes";
    }
    return bytes % (1 << 20) != 0 ? (bytes >> 10) + " KiB" : (bytes >> 20) + " MiB";
  }
}
