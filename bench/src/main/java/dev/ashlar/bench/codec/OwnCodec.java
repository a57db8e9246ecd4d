package dev.ashlar.bench.codec;

import dev.ashlar.codec.CodecChoice;
import dev.ashlar.codec.Codecs;
import dev.ashlar.codec.ErasureCode;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;

/** Ashlar's codec, on ISA-L or in Java. */
final class OwnCodec implements CodecPlugin {
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
  private static final int SHARD_MULTIPLE = 64;

  /** Enough for the compiler. */
  private static final long WARM_UP_NANOS = 200_000_000;

  private final CodecChoice choice;

  OwnCodec(CodecChoice choice) {
    this.choice = choice;
  }

  @Override
  public String name() {
    return choice.name().toLowerCase(Locale.ROOT);
  }

  @Override
  public boolean does(CodecTask.Workload workload) {
    return true;
  }

  @Override
  public int shardBytes(CodeShape shape, int size) {
    return Math.ceilDiv(Math.ceilDiv(size, shape.dataShards()), SHARD_MULTIPLE) * SHARD_MULTIPLE;
  }

  @Override
  public double run(CodecTask task) {
    CodeShape shape = task.shape();
    try (ErasureCode code = Codecs.create(choice, shape.dataShards(), shape.parityShards())) {
      ByteBuffer[] shards = shape.shards(shardBytes(shape, task.size()));
      code.encode(shape.data(shards), shape.parity(shards));
      IntConsumer work =
          switch (task.workload()) {
            case ENCODE -> encoding(code, shape, shards);
            case DECODE -> decoding(code, shards, task.losses());
            case UPDATE -> updating(code, shape, shards);
          };
      warmUp(work, task.iterations());
      long begin = THREADS.getCurrentThreadCpuTime();
      for (int i = 0; i < task.iterations(); i++) {
        work.accept(i);
      }
      return (THREADS.getCurrentThreadCpuTime() - begin) / 1e9;
    }
  }

  private static void warmUp(IntConsumer work, int iterations) {
    long end = System.nanoTime() + WARM_UP_NANOS;
    for (int i = 0; i < iterations && System.nanoTime() < end; i++) {
      work.accept(i);
    }
  }

  private static IntConsumer encoding(ErasureCode code, CodeShape shape, ByteBuffer[] shards) {
    int lost = Math.min(shape.dataShards(), shape.parityShards());
    Recovery.of(shape.dataShards(), shards, IntStream.range(0, lost).toArray()).check(code);
    ByteBuffer[] data = shape.data(shards);
    ByteBuffer[] parity = shape.parity(shards);
    return i -> code.encode(data, parity);
  }

  private static IntConsumer decoding(ErasureCode code, ByteBuffer[] shards, List<int[]> losses) {
    Recovery[] recoveries =
        losses.stream()
            .map(lost -> Recovery.of(code.dataShards(), shards, lost))
            .toArray(Recovery[]::new);
    for (Recovery recovery : recoveries) {
      recovery.check(code);
    }
    return i -> recoveries[i % recoveries.length].decode(code);
  }

  private static IntConsumer updating(ErasureCode code, CodeShape shape, ByteBuffer[] shards) {
    ByteBuffer[] data = shape.data(shards);
    ByteBuffer[] parity = shape.parity(shards);
    checkUpdates(code, data, parity);
    return i -> {
      for (int shard = 0; shard < data.length; shard++) {
        code.update(shard, data[shard], parity);
      }
    };
  }

  /** Deltas that are the data itself turn it into zeros, whose parity is zero. */
  private static void checkUpdates(ErasureCode code, ByteBuffer[] data, ByteBuffer[] parity) {
    for (int shard = 0; shard < data.length; shard++) {
      code.update(shard, data[shard], parity);
    }
    for (ByteBuffer each : parity) {
      if (each.mismatch(ByteBuffer.allocate(each.remaining())) >= 0) {
        throw new IllegalStateException(code.name() + " updates parity wrongly");
      }
    }
  }

  /** The first k shards that are left, from which the lost ones are rebuilt where they were. */
  private record Recovery(int[] present, ByteBuffer[] sources, int[] lost, ByteBuffer[] targets) {
    static Recovery of(int k, ByteBuffer[] shards, int[] lost) {
      int[] present =
          IntStream.range(0, shards.length)
              .filter(shard -> Arrays.binarySearch(lost, shard) < 0)
              .limit(k)
              .toArray();
      return new Recovery(present, pick(shards, present), lost, pick(shards, lost));
    }

    private static ByteBuffer[] pick(ByteBuffer[] shards, int[] indexes) {
      return IntStream.of(indexes).mapToObj(index -> shards[index]).toArray(ByteBuffer[]::new);
    }

    void decode(ErasureCode code) {
      code.decode(present, sources, lost, targets);
    }

    void check(ErasureCode code) {
      ByteBuffer[] saved = new ByteBuffer[targets.length];
      for (int i = 0; i < targets.length; i++) {
        int bytes = targets[i].remaining();
        saved[i] = ByteBuffer.allocate(bytes).put(targets[i].duplicate()).flip();
        targets[i].duplicate().put(new byte[bytes]);
      }
      decode(code);
      if (!Arrays.equals(saved, targets)) {
        throw new IllegalStateException(
            code.name() + " decodes wrongly without " + Arrays.toString(lost));
      }
    }
  }
}
