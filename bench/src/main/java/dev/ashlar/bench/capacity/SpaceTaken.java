package dev.ashlar.bench.capacity;

import dev.ashlar.bench.engine.LocalEngine;
import dev.ashlar.protocol.layout.StripeLayout;
import dev.ashlar.protocol.model.Profile;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/**
 * What a data set takes on drives with a profile. Of each class of sizes some objects are put into
 * a real store, and the class is taken to need as much more or less than the arithmetic says as
 * they do.
 *
 * @param isPadded classic: what stores take that fill up stripes
 * @param arithmeticBytes of shards, without headers and checksums
 * @param liveBytes that drives need, with them
 * @param writtenBytes that were written at first: a batch ends with a whole block, and compaction
 *     gets back what is lost by that
 */
record SpaceTaken(
    String profile,
    boolean isPadded,
    double arithmeticBytes,
    double liveBytes,
    double writtenBytes,
    List<OfClass> classes) {

  /** Bytes per byte of data. */
  record OfClass(long toBytes, int sampled, double arithmetic, double live, double written) {}

  private static final int CLIENTS = 16;

  /** Of longer objects so much is put: what headers add to a byte has long settled by then. */
  static final int OBJECT_BYTES_MAX = 8 << 20;

  private static final long CLASS_BYTES_MAX = 16L << 20;
  private static final int OBJECTS_MIN = 2;

  static SpaceTaken measure(
      Path folder, Profile profile, List<SizeDistribution.SizeClass> classes, int objectsMax)
      throws Exception {
    byte[] noise = new byte[OBJECT_BYTES_MAX];
    new Random(1).nextBytes(noise);
    double arithmetic = 0;
    double live = 0;
    double written = 0;
    List<OfClass> each = new ArrayList<>();
    try (LocalEngine engine =
        LocalEngine.open(folder, List.of(profile), LocalEngine.Memory.ofAServer())) {
      for (SizeDistribution.SizeClass sizes : classes) {
        Sample sample = Sample.put(engine, profile, sizes, objectsMax, noise);
        double shards =
            sizes.shares().stream()
                .mapToDouble(share -> share.count() * stored(profile, share.bytes()))
                .sum();
        arithmetic += shards;
        live += shards * sample.live / sample.arithmetic;
        written += shards * sample.written / sample.arithmetic;
        each.add(
            new OfClass(
                sizes.toBytes(),
                sample.objects,
                shards / sizes.bytes(),
                shards / sizes.bytes() * sample.live / sample.arithmetic,
                shards / sizes.bytes() * sample.written / sample.arithmetic));
      }
    }
    return new SpaceTaken(
        new Profile(profile.dataShards(), profile.parityShards(), profile.stripeUnit()).toString(),
        profile.isClassic(),
        arithmetic,
        live,
        written,
        each);
  }

  private static long stored(Profile profile, long bytes) {
    return new StripeLayout(profile, bytes).storedBytes();
  }

  /** What some objects came to. */
  private record Sample(int objects, double arithmetic, double live, double written) {
    static Sample put(
        LocalEngine engine,
        Profile profile,
        SizeDistribution.SizeClass sizes,
        int objectsMax,
        byte[] noise)
        throws Exception {
      double mean = Math.min(sizes.bytes() / sizes.count(), OBJECT_BYTES_MAX);
      int objects =
          Math.clamp(
              (long) (CLASS_BYTES_MAX / mean), OBJECTS_MIN, Math.max(OBJECTS_MIN, objectsMax));
      List<Long> sample =
          sizes.sample(objects).stream().map(size -> Math.min(size, OBJECT_BYTES_MAX)).toList();
      long liveBefore = engine.liveBytes();
      long writtenBefore = engine.writtenBytes();
      putAll(engine, profile, sizes.toBytes(), sample, noise);
      return new Sample(
          sample.size(),
          sample.stream().mapToDouble(size -> stored(profile, size)).sum(),
          engine.liveBytes() - liveBefore,
          engine.writtenBytes() - writtenBefore);
    }

    private static void putAll(
        LocalEngine engine, Profile profile, long sizeClass, List<Long> sizes, byte[] noise)
        throws Exception {
      Semaphore clients = new Semaphore(CLIENTS);
      try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
        List<Future<@Nullable Void>> puts = new ArrayList<>();
        for (int i = 0; i < sizes.size(); i++) {
          String key = sizeClass + "-" + i;
          int bytes = Math.toIntExact(sizes.get(i));
          puts.add(
              threads.submit(
                  () -> {
                    clients.acquire();
                    try {
                      engine.put(profile, key, ByteBuffer.wrap(noise, 0, bytes));
                      return null;
                    } finally {
                      clients.release();
                    }
                  }));
        }
        for (Future<@Nullable Void> put : puts) {
          put.get();
        }
      }
    }
  }
}
