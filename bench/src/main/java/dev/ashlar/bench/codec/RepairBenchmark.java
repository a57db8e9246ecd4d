package dev.ashlar.bench.codec;

import dev.ashlar.codec.CodecChoice;
import dev.ashlar.codec.Codecs;
import dev.ashlar.codec.ErasureCode;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** Parity deltas, and decoding with the first m data shards lost. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@SuppressWarnings("NullAway.Init") // JMH calls the set-up first
public class RepairBenchmark {
  @Param({"4+2", "6+2", "8+3"})
  public String profile;

  @Param("16384")
  public int shardBytes;

  @Param({"ISAL", "JAVA"})
  public CodecChoice codec;

  private ErasureCode code;
  private ByteBuffer delta;
  private ByteBuffer[] parity;
  private int[] present;
  private int[] lost;
  private ByteBuffer[] sources;
  private ByteBuffer[] targets;

  @Setup
  public void prepare() {
    CodeShape shape = CodeShape.parse(profile);
    int k = shape.dataShards();
    int m = shape.parityShards();
    code = Codecs.create(codec, k, m);
    ByteBuffer[] shards = shape.shards(shardBytes);
    delta = shards[0];
    parity = shape.parity(shards);
    lost = IntStream.range(0, m).toArray();
    present = IntStream.range(m, m + k).toArray();
    targets = Arrays.copyOf(shards, m);
    sources = Arrays.copyOfRange(shards, m, m + k);
  }

  @Benchmark
  public void update() {
    code.update(0, delta, parity);
  }

  @Benchmark
  public void updateOneParity() {
    code.updateParity(1, 1, delta, parity[1]);
  }

  @Benchmark
  public void decode() {
    code.decode(present, sources, lost, targets);
  }
}
